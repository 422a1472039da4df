package kbest

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"chronoscope/machine"
)

// Flush writes the cache lines of data back to memory and drops them from every cache of the machine, for all
// cores. Give it to [Before] if the subject's input is known: it is exact, and much quicker than an [Evictor].
//
// It returns a *machine.UnsupportedError if this processor has no instruction for it that a program may use.
func Flush[T any](data []T) error {
	return flush(uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data))*unsafe.Sizeof(*new(T)))
}

// FlushCode drops the machine code of Go functions from every cache, instruction caches included. It drops the
// code of these functions with all that is inlined into them, but not the code that they call. What the
// processor learnt of their branches stays.
//
// On arm64 it drops code from data and unified caches only: user programs have no way to drop it from the
// others.
func FlushCode(functions ...any) error {
	for _, f := range functions {
		v := reflect.ValueOf(f)
		if v.Kind() != reflect.Func || v.IsNil() {
			return fmt.Errorf("kbest: FlushCode of %T: give it functions", f)
		}
		from, to := codeOf(v.Pointer())
		if err := flush(from, to-from); err != nil {
			return err
		}
	}
	return nil
}

func flush(from, bytes uintptr) error {
	if !canFlush {
		return &machine.UnsupportedError{
			Operation: "flush of cache lines",
			Reason:    "no instruction that a program may use is known for " + runtime.GOOS + "/" + runtime.GOARCH,
			Remedy:    "clear whole caches with an Evictor",
		}
	}
	flushLines(from, bytes)
	return nil
}

// Limits and steps of the search for the ends of code, in bytes: mostFunction for one function, mostText for
// all code, and leastAligned for the least distance between two functions.
const (
	mostFunction = 1 << 24
	mostText     = 1 << 30
	page         = 1 << 12
	leastAligned = 16
)

// codeOf returns where the code of the function at entry lies. It ends where the runtime knows another
// function.
func codeOf(entry uintptr) (from, to uintptr) {
	same := func(pc uintptr) bool {
		f := runtime.FuncForPC(pc)
		return f != nil && f.Entry() == entry
	}
	return entry, lastWhere(same, entry, leastAligned, mostFunction)
}

// allCode returns where all Go code of this program lies: the pages around this function that the runtime knows
// to belong to functions.
func allCode() (from, to uintptr) {
	known := func(pc uintptr) bool { return runtime.FuncForPC(pc) != nil }
	here := reflect.ValueOf(allCode).Pointer() &^ (page - 1)
	from = here
	for known(from-page) && here-from < mostText {
		from -= page
	}
	return from, lastWhere(known, here, page, mostText)
}

// lastWhere returns the first address after start, in steps, for which a condition no longer holds, or the
// first beyond the limit.
func lastWhere(holds func(uintptr) bool, start, step, limit uintptr) uintptr {
	at := start + step
	for holds(at) && at-start < limit {
		at += step
	}
	return at
}
