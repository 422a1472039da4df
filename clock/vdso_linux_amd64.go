package clock

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// atSysinfoEHDR marks the vDSO's address in the auxiliary vector (getauxval(3)).
const atSysinfoEHDR = 33

// vdsoLimit is more than any vDSO takes; a larger one is not believed.
const vdsoLimit = 1 << 20

// kernelVDSO is the vDSO of this process. Its error says why the clocks have to
// be read by system calls.
var kernelVDSO = sync.OnceValues(func() (vdso, error) {
	base, err := vdsoAddress()
	if err != nil {
		return vdso{}, err
	}
	m, err := vdsoImage(base)
	if err != nil {
		return vdso{}, err
	}
	return vdsoFunctions(m, base)
})

func vdsoAddress() (uintptr, error) {
	vector, err := unix.Auxv()
	if err != nil {
		return 0, fmt.Errorf("the auxiliary vector: %w", err)
	}
	for _, entry := range vector {
		if entry[0] == atSysinfoEHDR && entry[1] != 0 {
			return entry[1], nil
		}
	}
	return 0, errors.New("no vDSO")
}

// vdsoImage copies the vDSO: its first page, which holds the headers, and then
// as much as these speak of.
func vdsoImage(base uintptr) (image, error) {
	const page = 4096
	first, err := copyMemory(base, page)
	if err != nil {
		return nil, err
	}
	size, err := image(first).size()
	if err != nil {
		return nil, err
	}
	if size > vdsoLimit {
		return nil, fmt.Errorf("a vDSO of %d bytes", size)
	}
	return copyMemory(base, int(size))
}

// vdsoFunctions looks the functions up; only clock_gettime has to be there.
func vdsoFunctions(m image, base uintptr) (v vdso, err error) {
	clockGettime, err := vdsoFunction(m, base, "__vdso_clock_gettime")
	if err != nil {
		return vdso{}, err
	}
	v.gettime = func(id int32) func() int64 {
		return func() int64 {
			seconds, nanoseconds := callClockGettime(clockGettime, uintptr(id))
			return seconds*1e9 + nanoseconds
		}
	}
	if gettimeofday, err := vdsoFunction(m, base, "__vdso_gettimeofday"); err == nil {
		v.gettimeofday = func() int64 {
			seconds, microseconds := callGettimeofday(gettimeofday)
			return seconds*1e6 + microseconds
		}
	}
	if time, err := vdsoFunction(m, base, "__vdso_time"); err == nil {
		v.time = func() int64 { return callTime(time) }
	}
	return v, nil
}

func vdsoFunction(m image, base uintptr, name string) (uintptr, error) {
	offset, err := m.symbol(name)
	if err != nil {
		return 0, err
	}
	if _, ok := m.slice(offset, 1); !ok {
		return 0, fmt.Errorf("symbol %s lies outside of the vDSO", name)
	}
	return base + uintptr(offset), nil
}

// The calls of C functions at an address, from a Go stack. They grow it first
// where it is too small for C code, of which the kernel promises no bound; two
// pages are nearly twice what has been seen of it (Go issue 20427). A signal
// that arrives within finds its goroutine through thread-local storage, which C
// code leaves alone, and runs on a stack of its own. The first reading on a new
// stack, or on one that the garbage collector has cut, pays for the growth: half
// a microsecond and more.

// callClockGettime calls clock_gettime(id, &t).
func callClockGettime(function, id uintptr) (seconds, nanoseconds int64)

// callGettimeofday calls gettimeofday(&t, NULL).
func callGettimeofday(function uintptr) (seconds, microseconds int64)

// callTime calls time(NULL).
func callTime(function uintptr) (seconds int64)
