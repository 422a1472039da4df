//go:build !linux

package activity

import "chronoscope/machine"

// errAccounts says that accounts are not read on this system.
var errAccounts = &machine.UnsupportedError{
	Operation: "reading what the kernel charged to a thread and its process",
	Reason:    "its accounts are read on Linux only",
	Remedy:    "the trace itself says for how long the thread was active",
}

// readProcess only adds a caveat.
func (a *Accounts) readProcess() { a.lack("%v", errAccounts) }

// threadNumber returns 0: there are no events of threads on this system.
func threadNumber() int { return 0 }
