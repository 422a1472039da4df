package machine

import (
	"errors"
	"fmt"
	"runtime"
)

// UnsupportedError says that this system does not offer an operation.
// [errors.Is] takes it for [errors.ErrUnsupported].
type UnsupportedError struct {
	Operation string // what was asked for
	Reason    string // why the system can't do it
	Remedy    string // what the user can do instead
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: not supported on %s: %s; %s", e.Operation, runtime.GOOS, e.Reason, e.Remedy)
}

func (e *UnsupportedError) Unwrap() error { return errors.ErrUnsupported }

// AffinityError says that a thread could not be given, or asked for, its CPUs.
type AffinityError struct {
	Operation string // what was tried
	Err       error  // what the system answered
	Remedy    string // what the user can do
}

func (e *AffinityError) Error() string {
	return fmt.Sprintf("%s: %v; %s", e.Operation, e.Err, e.Remedy)
}

func (e *AffinityError) Unwrap() error { return e.Err }

// Affinity lists the CPUs that the calling thread may run on, ascending. The
// error is an [*UnsupportedError] or an [*AffinityError].
func Affinity() ([]int, error) { return affinity() }

// SetAffinity binds the calling thread to cpus, to all of them or to none: the
// kernel would quietly leave out CPUs that are offline or outside the process's
// cpuset, here that is an error and the thread keeps the CPUs it had. The
// goroutine has to be locked to its thread ([runtime.LockOSThread]); [Pin] does
// both. The error is an [*UnsupportedError] or an [*AffinityError].
func SetAffinity(cpus []int) error {
	if err := checkCPUs(cpus); err != nil {
		return bindingError(cpus, err, "name at least one CPU, each from 0 to the highest that is online")
	}
	return setAffinity(cpus)
}

// Pin locks the calling goroutine to its thread and the thread to cpus, until
// restore is called on the same goroutine. Where restore fails, the goroutine
// stays locked, so that no other inherits the thread and its CPUs.
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
	return &AffinityError{Operation: fmt.Sprintf("binding this thread to CPUs %v", cpus), Err: err, Remedy: remedy}
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
