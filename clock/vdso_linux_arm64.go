package clock

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	vdsoClockGettimeName = "__kernel_clock_gettime"
	vdsoGettimeofdayName = "__kernel_gettimeofday"
	vdsoTimeName         = "" // this architecture has none
)

// callTime is never called: there is no such function.
func callTime(function uintptr) (seconds int64) { panic("clock: no time(2) on arm64") }

// On this architecture the goroutine is in a register that C code may use, so
// that a signal that arrives within the vDSO could not tell which goroutine it
// interrupted, and Go would ignore it or die of it. Go's own calls therefore
// leave the goroutine in the lowest word of the thread's signal stack, where
// the handler looks for it (Go issue 32912, runtime.sigFetchG). Calls from here
// must do the same. Where that stack is, the goroutine knows: it points to its
// thread's record, which points to the goroutine of the signal handler, which
// begins with the bounds of the stack. The two offsets depend on the release of
// Go; they are found by search, and checked against what the kernel says of the
// signal stack (sigaltstack(2)).

// toThread and toSignal are these offsets, in bytes.
//
//lint:ignore U1000 the assembly uses them
var toThread, toSignal uintptr

// prepareVDSO finds the offsets. Its error means that calls are not safe.
func prepareVDSO() error {
	// A goroutine that moves to another thread during the search finds nothing.
	for range 8 {
		stack, err := signalStack()
		if err != nil {
			return err
		}
		if thread, signal, ok := searchSignalStack(goroutine(), stack); ok {
			toThread, toSignal = thread, signal
			return nil
		}
	}
	return errors.New("the Go runtime's signal stack was not found")
}

// searchSignalStack follows two pointers from the goroutine's record, to see
// which lead to a record that begins with the signal stack's address.
func searchSignalStack(g, stack uintptr) (thread, signal uintptr, ok bool) {
	const words = 32
	first, err := copyWords(g, words)
	if err != nil {
		return 0, 0, false
	}
	for i, m := range first {
		second, err := copyWords(m, words)
		if err != nil {
			continue
		}
		for j, candidate := range second {
			bounds, err := copyWords(candidate, 1)
			if err == nil && bounds[0] == stack {
				return uintptr(8 * i), uintptr(8 * j), true
			}
		}
	}
	return 0, 0, false
}

// copyWords is copyMemory for words of 64 bits.
func copyWords(address uintptr, words int) ([]uintptr, error) {
	data, err := copyMemory(address, 8*words)
	if err != nil {
		return nil, err
	}
	values := make([]uintptr, words)
	for i := range values {
		values[i] = uintptr(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return values, nil
}

// signalStack is the lowest address of this thread's signal stack.
func signalStack() (uintptr, error) {
	var s struct {
		low   uintptr
		flags int32
		size  uintptr
	}
	_, _, errno := unix.RawSyscall(unix.SYS_SIGALTSTACK, 0, uintptr(unsafe.Pointer(&s)), 0)
	if errno != 0 {
		return 0, errno
	}
	if s.low == 0 {
		return 0, errors.New("this thread has no signal stack")
	}
	return s.low, nil
}

// goroutine is the address of the running goroutine's record.
func goroutine() uintptr
