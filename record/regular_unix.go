//go:build unix

package record

import "syscall"

// withoutWaiting makes opening a pipe return at once, with or without a writer (open(2), fifo(7)).
const withoutWaiting = syscall.O_NONBLOCK
