package bytecode_test

import (
	"fmt"

	"chronoscope/bytecode"
)

// The catalogue says what an instruction takes from the operand stack and what it leaves there.
func ExampleLookup() {
	i, err := bytecode.Lookup("iadd")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(i.Kind, i.Takes, i.Leaves, len(bytecode.Catalogue()))
	// Output: arithmetic ii i 137
}
