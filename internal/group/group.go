// Package group ends a program together with all processes that it has started.
package group

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Own gives a program that is about to be started its own session and process group, and adds a variable to its
// environment, c.Env, which must be complete by then. So it can be ended with all that it starts, and a
// terminal's interrupt reaches this process alone. On systems without groups Own does nothing.
func Own(c *exec.Cmd) { own(c) }

// End kills a program that was given its own group, and the processes that it has started in it. The program
// must not be reaped yet: until then no other process has its number.
func End(c *exec.Cmd) { end(c) }

// Hold opens handles of all processes that a running program has started, including those that have left its
// group. end kills them. Like End, Hold has to be called before the program is reaped. A process that has left
// the session, and whose parent has ended, is found by a variable of its environment, unless it has cleared
// that.
func Hold(c *exec.Cmd) (end func()) { return hold(c) }

// markPrefix is the beginning of the name of the variable by which processes of a program are found.
const markPrefix = "CHRONOSCOPE_GROUP_"

var marks atomic.Int64

// newMark returns a variable that no other program has.
func newMark() string {
	return fmt.Sprintf("%s%d_%d_%d=1", markPrefix, os.Getpid(), time.Now().UnixNano(), marks.Add(1))
}

// markOf returns the variable with which Own last marked the program; empty if there is none.
func markOf(c *exec.Cmd) string {
	for _, variable := range slices.Backward(c.Env) {
		if strings.HasPrefix(variable, markPrefix) {
			return variable
		}
	}
	return ""
}
