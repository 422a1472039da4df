package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// function is one that the kernel maps into programs to read a clock by (vdso(7)).
type function struct {
	offset uintptr // in the vDSO
	code   []byte  // its beginning: as many bytes as a breakpoint takes
	// named is true where the first argument says which clock.
	named bool
}

// clockFunctions are the names of those that read clocks; true where the first argument says
// which. Those of arm64 begin with __kernel.
var clockFunctions = map[string]bool{
	"__vdso_clock_gettime": true, "__vdso_gettimeofday": false, "__vdso_time": false,
	"__kernel_clock_gettime": true, "__kernel_gettimeofday": false,
}

var errNoVDSO = errors.New("finding looks at clocks: the kernel maps no functions for that into programs (vDSO)")

// vdsoClocks returns the functions that read clocks. Programs get the same image as this
// process, at other addresses.
func vdsoClocks(vdso machine.VDSO) (all []function, err error) {
	for name, offset := range vdso.Functions {
		named, known := clockFunctions[name]
		if end := offset + uint64(len(breakpoint)); known && end <= uint64(len(vdso.Image)) {
			all = append(all, function{uintptr(offset), vdso.Image[offset:end], named})
		}
	}
	if len(all) == 0 {
		return nil, errNoVDSO
	}
	return all, nil
}

// vdsoBase is where the vDSO lies in a process, by its auxiliary vector (proc_pid_auxv(5)).
func vdsoBase(pid int) (uintptr, error) {
	vector, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		return 0, fmt.Errorf("finding looks at clocks: %w", err)
	}
	const entry, vdso = 16, 33 // AT_SYSINFO_EHDR
	for part := range slices.Chunk(vector, entry) {
		if len(part) == entry && binary.NativeEndian.Uint64(part) == vdso {
			return uintptr(binary.NativeEndian.Uint64(part[8:])), nil
		}
	}
	return 0, errNoVDSO
}

// peek reads the code of a thread that stands still, and poke writes it.
func peek(thread int, at uintptr, code []byte) error {
	n, err := unix.PtracePeekText(thread, at, code)
	if err == nil && n < len(code) {
		err = errShort
	}
	return err
}

func poke(thread int, at uintptr, code []byte) error {
	n, err := unix.PtracePokeText(thread, at, code)
	if err == nil && n < len(code) {
		err = errShort
	}
	return err
}
