// Package group ends a program with all that it has started.
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

// Own gives a program that is about to be started a session and a process group of its own,
// so that it is ended with all that it starts, and a terminal's interrupt reaches this
// process alone. Where there are no groups it does nothing. It adds a variable to the program's
// environment, c.Env, which must be complete by then.
func Own(c *exec.Cmd) { own(c) }

// End kills a program that was given its own group, and what it has started. It must not
// be reaped yet: until then its number is nobody else's.
func End(c *exec.Cmd) { end(c) }

// Hold takes hold of all that a running program has started, also of what has left its group,
// and returns what ends that. Call it before the program is reaped, as End. What has left the
// session and lost its parent before is found by a variable of its environment, unless it has
// cleared that.
func Hold(c *exec.Cmd) (end func()) { return hold(c) }

// markPrefix begins the name of the variable by which what a program has started is found.
const markPrefix = "CHRONOSCOPE_GROUP_"

var marks atomic.Int64

// newMark is a variable that no other program has.
func newMark() string {
	return fmt.Sprintf("%s%d_%d_%d=1", markPrefix, os.Getpid(), time.Now().UnixNano(), marks.Add(1))
}

// markOf is the variable that the program was given last.
func markOf(c *exec.Cmd) string {
	for _, variable := range slices.Backward(c.Env) {
		if strings.HasPrefix(variable, markPrefix) {
			return variable
		}
	}
	return ""
}
