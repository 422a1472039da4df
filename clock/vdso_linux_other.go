//go:build linux && !amd64

package clock

import (
	"errors"
	"runtime"
)

// kernelVDSO offers nothing here: the clocks are read by system calls.
//
// On arm64 Go keeps the goroutine in a register that C code may use.
// A signal within the vDSO could then not tell which goroutine it interrupted,
// and ends the process. The runtime's own calls leave it a note on the thread's
// signal stack (Go issue 32912, runtime.sigFetchG); where and how differs
// between releases of Go and is closed to other packages.
func kernelVDSO() (vdso, error) {
	return vdso{}, errors.New("not safe to call from Go on " + runtime.GOARCH)
}
