//go:build !linux

package activity

import "chronoscope/machine"

// errAccounts says that this system's accounts are not read.
var errAccounts = &machine.UnsupportedError{
	Operation: "reading what the kernel charged to a thread and its process",
	Reason:    "its accounts are read on Linux only",
	Remedy:    "the trace itself says for how long the thread was active",
}

// readProcess has nothing to read.
func (a *Accounts) readProcess() { a.lack("%v", errAccounts) }

// threadNumber is 0: there are no events of threads here.
func threadNumber() int { return 0 }
