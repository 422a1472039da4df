package fidelity_test

import (
	"fmt"

	"chronoscope/fidelity"
)

// A workload runs between the two ends of a sandwich. Each workload may stop a counter or change its
// rate in another way.
func ExampleSelect() {
	chosen, err := fidelity.Select(fidelity.Workloads(nil), []string{"sleep", "migration"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range chosen {
		fmt.Println(w.Name)
	}
	// Output:
	// sleep
	// migration
}
