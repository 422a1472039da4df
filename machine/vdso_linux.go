package machine

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// VDSO is the shared object that the kernel maps into each program, so that it can read
// clocks without a system call (vdso(7)).
type VDSO struct {
	// Base is its address in this process. In other processes the same image is elsewhere.
	Base uintptr
	// Image is a copy of its bytes.
	Image []byte
	// Functions maps the functions' names to offsets in Image. Each offset lies within it.
	Functions map[string]uint64
}

// mostVDSOBytes is more than the size of any vDSO.
const mostVDSOBytes = 1 << 20

// ReadVDSO reads the vDSO of this process. It returns an error if there is none or if it can't
// be read.
var ReadVDSO = sync.OnceValues(func() (VDSO, error) {
	base, err := vdsoBase()
	if err != nil {
		return VDSO{}, fmt.Errorf("vDSO: %w", err)
	}
	// Reading an unmapped address directly would end the process; reading the file returns an
	// error.
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return VDSO{}, fmt.Errorf("vDSO: %w", err)
	}
	defer memory.Close()
	image := make([]byte, mostVDSOBytes)
	n, err := io.ReadFull(io.NewSectionReader(memory, int64(base), mostVDSOBytes), image)
	if n == 0 {
		return VDSO{}, fmt.Errorf("vDSO: reading it at %#x: %w", base, err)
	}
	image = image[:n] // the memory after it is not mapped
	functions, err := vdsoFunctions(image)
	return VDSO{Base: base, Image: image, Functions: functions}, err
})

func vdsoBase() (uintptr, error) {
	const atSysinfoEHDR = 33 // getauxval(3)
	vector, err := unix.Auxv()
	if err != nil {
		return 0, fmt.Errorf("the auxiliary vector: %w", err)
	}
	for _, entry := range vector {
		if entry[0] == atSysinfoEHDR && entry[1] != 0 {
			return entry[1], nil
		}
	}
	return 0, errors.New("the kernel maps none")
}

// vdsoFunctions returns the functions of an image.
func vdsoFunctions(image []byte) (map[string]uint64, error) {
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, fmt.Errorf("vDSO: %w", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("vDSO: %w", err)
	}
	functions := map[string]uint64{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && s.Value < uint64(len(image)) {
			functions[s.Name] = s.Value
		}
	}
	return functions, nil
}
