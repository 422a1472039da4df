package process_test

import (
	"context"
	"fmt"
	"os"

	"chronoscope/process"
)

// A command runs, and its run says what the kernel counted of it.
func ExampleCommand_Run() {
	run, err := process.Command{Path: "echo", Args: []string{"hello"}, Stdout: os.Stdout}.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it took time:", run.WallNs > 0)
	// Output:
	// hello
	// it took time: true
}
