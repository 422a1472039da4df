//go:build linux && !amd64

package clock

import (
	"errors"
	"runtime"
)

// kernelVDSO returns an error here, so that the clocks are read by system calls.
//
// On arm64 Go keeps the goroutine in a register that C code may use. A handler of a signal within
// the vDSO could then not tell which goroutine it interrupted, and would end the process. The
// runtime's own calls save the goroutine on the thread's signal stack (Go issue 32912,
// runtime.sigFetchG). Where and how it is saved differs between releases of Go, and other
// packages have no access to it.
func kernelVDSO() (vdso, error) {
	return vdso{}, errors.New("not safe to call from Go on " + runtime.GOARCH)
}
