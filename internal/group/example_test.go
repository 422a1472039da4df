package group_test

import (
	"fmt"
	"os/exec"

	"chronoscope/internal/group"
)

// A shell that leaves a process behind is ended with it.
func ExampleEnd() {
	c := exec.Command("sh", "-c", "sleep 60 & sleep 60")
	group.Own(c)
	if err := c.Start(); err != nil {
		fmt.Println(err)
		return
	}
	group.End(c)
	fmt.Println(c.Wait())
	// Output: signal: killed
}
