package probe_test

import (
	"fmt"

	"chronoscope/internal/probe"
)

// Kits returns the probes that are part of the package.
func ExampleKits() {
	for _, kit := range probe.Kits("python") {
		fmt.Println(kit.Name, kit.Programs)
	}
	// Output: python [python3 python]
}
