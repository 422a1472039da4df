package env

import (
	"runtime"

	"chronoscope/machine"
)

// Hold locks the calling goroutine to its thread, binds the thread to the given CPUs, if any, and
// keeps the garbage collector from running, because a measurement would mistake a collection for a
// disturbance by the system. release undoes all three; call it on the same goroutine. The error is
// that of [machine.Pin]; after an error nothing is held.
func Hold(cpus ...int) (release func(), err error) {
	unlock, err := Thread(cpus...)
	if err != nil {
		return nil, err
	}
	collect := machine.HoldCollector(0)
	return func() {
		collect()
		unlock()
	}, nil
}

// Thread locks the calling goroutine to its thread, and binds the thread to the given CPUs, if any.
// release undoes both; call it on the same goroutine. The error is that of [machine.Pin]; after an
// error neither is done.
func Thread(cpus ...int) (release func(), err error) {
	if len(cpus) == 0 {
		runtime.LockOSThread()
		return runtime.UnlockOSThread, nil
	}
	restore, err := machine.Pin(cpus)
	if err != nil {
		return nil, err
	}
	return func() { _ = restore() }, nil // after an error the goroutine stays locked, so that the thread ends with it
}
