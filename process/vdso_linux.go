package process

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
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

// vdsoBytes is more than any vDSO takes.
const vdsoBytes = 1 << 20

var errNoVDSO = errors.New("finding looks at clocks: the kernel maps no functions for that into programs (vDSO)")

// ownVDSO are the functions in this process. Programs get the same image, at other addresses.
var ownVDSO = sync.OnceValues(func() ([]function, error) {
	base, err := vdsoBase(os.Getpid())
	if err != nil {
		return nil, err
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil, fmt.Errorf("finding looks at clocks: %w", err)
	}
	defer memory.Close()
	image := make([]byte, vdsoBytes)
	n, err := io.ReadFull(io.NewSectionReader(memory, int64(base), vdsoBytes), image)
	if n == 0 {
		return nil, fmt.Errorf("finding looks at clocks: reading the vDSO: %w", err)
	}
	return functionsOf(image[:n]) // what follows it is not mapped
})

// functionsOf finds the functions in an image of a vDSO.
func functionsOf(image []byte) (all []function, err error) {
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, fmt.Errorf("finding looks at clocks: the vDSO: %w", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("finding looks at clocks: the vDSO: %w", err)
	}
	for _, s := range symbols {
		named, known := clockFunctions[s.Name]
		end := s.Value + uint64(len(breakpoint))
		if known && s.Value < end && end <= uint64(len(image)) {
			all = append(all, function{uintptr(s.Value), image[s.Value:end], named})
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
