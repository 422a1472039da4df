//go:build unix

package record

import "syscall"

// withoutWaiting opens a pipe whether or not somebody writes to it (open(2), fifo(7)).
const withoutWaiting = syscall.O_NONBLOCK
