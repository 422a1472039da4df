package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// clocks is the number of clocks that clockCode knows: CLOCK_REALTIME, 0, to CLOCK_TAI, 11 (clock_gettime(2)).
const clocks = 12

// limitsOffset is the offset of the clocks' limits from the beginning of clockCode's clock_gettime.
const limitsOffset = 128

// clockGettime is the name of clockCode's clock_gettime. The other functions call it.
const clockGettime = "clock_gettime"

var (
	errNoVDSO    = errors.New("the kernel maps no functions that read clocks into programs (vDSO)")
	errSmallVDSO = errors.New("the vDSO's functions are too small to be replaced")
)

// functionsOf returns the offsets in a vDSO at which clockCode's functions are to begin, by name. It returns an
// error if one of them does not fit before the next function of the vDSO.
func functionsOf(vdso machine.VDSO) (map[string]uintptr, error) {
	found := map[string]uintptr{}
	begins := append(slices.Sorted(maps.Values(vdso.Functions)), uint64(len(vdso.Image)))
	for name, code := range clockCode {
		from, there := vdso.Functions[vdsoPrefix+name]
		if !there {
			continue
		}
		need := len(code)
		if name == clockGettime {
			need = limitsOffset + clocks*limitBytes
		}
		next := begins[slices.IndexFunc(begins, func(begin uint64) bool { return begin > from })]
		if next < from+uint64(need) {
			return nil, errSmallVDSO
		}
		found[name] = uintptr(from)
	}
	if _, there := found[clockGettime]; !there {
		return nil, errNoVDSO
	}
	return found, nil
}

// vdsoOf returns the address of the vDSO in a thread's program, and the offsets of clockCode's functions in it.
// It returns an error for a program of another architecture, which has another vDSO.
func vdsoOf(thread int) (base uintptr, functions map[string]uintptr, err error) {
	own, err := machine.ReadVDSO()
	if err != nil {
		return 0, nil, err
	}
	if functions, err = functionsOf(own); err != nil {
		return 0, nil, err
	}
	if base, err = auxiliary(thread, auxVDSO); err != nil {
		return 0, nil, errOtherMachine
	}
	from, there := functions[clockGettime], make([]byte, len(clockCode[clockGettime]))
	if err := peek(thread, base+from, there); err != nil || !bytes.Equal(there, own.Image[from:from+uintptr(len(there))]) {
		return 0, nil, errOtherMachine
	}
	return base, functions, nil
}

// writeClockCode replaces the vDSO's functions in the program of a stopped thread. The first look at a clock
// then stops the thread.
func writeClockCode(thread int, base uintptr, functions map[string]uintptr) error {
	for name, from := range functions {
		code := slices.Clone(clockCode[name])
		if call := clockCalls[name]; call > 0 {
			relocateCall(code[call:], int(functions[clockGettime])-int(from)-call)
		} else {
			code = append(code, make([]byte, limitsOffset+clocks*limitBytes-len(code))...)
		}
		if err := poke(thread, base+from, code); err != nil {
			return fmt.Errorf("ptrace: %w", err)
		}
	}
	return nil
}

// Entries of the auxiliary vector (getauxval(3)): AT_BASE is the address of the dynamic linker, and
// AT_SYSINFO_EHDR that of the vDSO.
const auxBase, auxVDSO = 7, 33

// auxiliary returns an entry of a process's auxiliary vector (proc_pid_auxv(5)).
func auxiliary(pid int, name uint64) (uintptr, error) {
	vector, err := os.ReadFile(machine.ProcFile(pid, "auxv"))
	if err != nil {
		return 0, err
	}
	const entry = 16
	for part := range slices.Chunk(vector, entry) {
		if len(part) == entry && binary.NativeEndian.Uint64(part) == name {
			return uintptr(binary.NativeEndian.Uint64(part[8:])), nil
		}
	}
	return 0, errNoVDSO
}

// peek reads the memory of a stopped thread, and poke writes it.
func peek(thread int, at uintptr, data []byte) error {
	n, err := unix.PtracePeekText(thread, at, data)
	if err == nil && n < len(data) {
		err = errShort
	}
	return err
}

func poke(thread int, at uintptr, data []byte) error {
	n, err := unix.PtracePokeText(thread, at, data)
	if err == nil && n < len(data) {
		err = errShort
	}
	return err
}
