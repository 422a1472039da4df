package analysis_test

import (
	"fmt"

	"chronoscope/bytecode/analysis"
)

// Instructions whose times differ by no more than a nanosecond form one group.
func ExampleCluster() {
	tree, err := analysis.Cluster([]analysis.Timing{{Name: "ldiv", Ns: 9}, {Name: "iadd", Ns: 1}, {Name: "isub", Ns: 1.2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, group := range tree.Groups(1) {
		fmt.Println(len(group.Timings), group.Timings[0].Name)
	}
	// Output:
	// 2 iadd
	// 1 ldiv
}
