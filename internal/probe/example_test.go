package probe_test

import (
	"fmt"

	"chronoscope/internal/probe"
)

// Kits are the probes that come with the package.
func ExampleKits() {
	for _, kit := range probe.Kits("python") {
		fmt.Println(kit.Name, kit.Programs)
	}
	// Output: python [python3 python]
}
