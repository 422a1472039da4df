//go:build unix

package cli

import "syscall"

// withoutWaiting opens a pipe without a wait for whoever is at its other end.
const withoutWaiting = syscall.O_NONBLOCK
