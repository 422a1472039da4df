package machine

import (
	"errors"
	"fmt"
	"runtime"
)

// UnsupportedError says that this system does not offer an operation. It matches
// [errors.ErrUnsupported] in [errors.Is].
type UnsupportedError struct {
	Operation string // what was asked for
	Reason    string // why the system can't do it
	Remedy    string // what the user can do instead
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: not supported on %s: %s; %s", e.Operation, runtime.GOOS, e.Reason, e.Remedy)
}

func (e *UnsupportedError) Unwrap() error { return errors.ErrUnsupported }

// AffinityError says that the CPUs of a thread could not be read or set.
type AffinityError struct {
	Operation string // what was tried
	Err       error  // what the system answered
	Remedy    string // what the user can do
}

func (e *AffinityError) Error() string {
	return fmt.Sprintf("%s: %v; %s", e.Operation, e.Err, e.Remedy)
}

func (e *AffinityError) Unwrap() error { return e.Err }

// Affinity returns the CPUs on which the calling thread may run, in ascending order. The error is
// an [*UnsupportedError] or an [*AffinityError].
func Affinity() ([]int, error) { return affinity() }

// SetAffinity binds the calling thread to all of cpus. If one of them is offline or outside the
// process's cpuset, it returns an error and the thread keeps its CPUs; the kernel would ignore
// such a CPU without an error. The goroutine has to be locked to its thread
// ([runtime.LockOSThread]); [Pin] does both. The error is an [*UnsupportedError] or an
// [*AffinityError].
func SetAffinity(cpus []int) error {
	if err := checkCPUs(cpus); err != nil {
		return bindingError(cpus, err, "name at least one CPU, each from 0 to the highest that is online")
	}
	return setAffinity(cpus)
}

// SetProcessAffinity binds all threads of this process to cpus, and so those that they start, and the processes that are
// started from now on. A thread whose affinity is set later is bound to other CPUs then. The error is an
// [*UnsupportedError] or an [*AffinityError].
func SetProcessAffinity(cpus []int) error {
	if err := checkCPUs(cpus); err != nil {
		return bindingError(cpus, err, "name at least one CPU, each from 0 to the highest that is online")
	}
	return setProcessAffinity(cpus)
}

// Pin locks the calling goroutine to its thread and binds the thread to cpus, until restore is
// called on the same goroutine. If restore fails, the goroutine stays locked, so that no other
// goroutine runs on the thread and its CPUs.
func Pin(cpus []int) (restore func() error, err error) {
	runtime.LockOSThread()
	before, err := Affinity()
	if err == nil {
		err = SetAffinity(cpus)
	}
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return func() error {
		if err := restoreAffinity(before); err != nil {
			return err
		}
		runtime.UnlockOSThread()
		return nil
	}, nil
}

func bindingError(cpus []int, err error, remedy string) error {
	return &AffinityError{Operation: fmt.Sprintf("binding this thread to CPUs [%s]", FormatCPUList(cpus)), Err: err, Remedy: remedy}
}

func checkCPUs(cpus []int) error {
	if len(cpus) == 0 {
		return errors.New("the list of CPUs is empty")
	}
	for _, cpu := range cpus {
		if cpu < 0 || cpu > maxCPU {
			return fmt.Errorf("there is no CPU %d", cpu)
		}
	}
	return nil
}
