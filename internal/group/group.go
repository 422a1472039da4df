// Package group ends a program with all that it has started.
package group

import "os/exec"

// Own gives a program that is about to be started a session and a process group of its own,
// so that it is ended with all that it starts, and a terminal's interrupt reaches this
// process alone. Where there are no groups it does nothing.
func Own(c *exec.Cmd) { own(c) }

// End kills a program that was given its own group, and what it has started. It must not
// be reaped yet: until then its number is nobody else's.
func End(c *exec.Cmd) { end(c) }

// Hold takes hold of all that a running program has started, also of what has left its group,
// and returns what ends that. Call it before the program is reaped, as End. What has left the
// session and lost its parent before is not among it.
func Hold(c *exec.Cmd) (end func()) { return hold(c.Process.Pid) }
