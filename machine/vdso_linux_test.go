package machine

import (
	"strings"
	"testing"
)

// The functions of this kernel's vDSO are found, and an invalid image is an error.
func TestReadVDSO(t *testing.T) {
	v, err := ReadVDSO()
	if err != nil {
		t.Skip(err)
	}
	clocks := 0
	for name, offset := range v.Functions {
		if strings.HasSuffix(name, "clock_gettime") {
			clocks++
		}
		if offset >= uint64(len(v.Image)) {
			t.Errorf("%s at %#x of %#x", name, offset, len(v.Image))
		}
	}
	if v.Base == 0 || clocks == 0 {
		t.Errorf("at %#x: %v", v.Base, v.Functions)
	}
}

func FuzzVDSOFunctions(f *testing.F) {
	f.Add([]byte("\x7fELF"))
	f.Add(make([]byte, 4096))
	if v, err := ReadVDSO(); err == nil {
		f.Add(v.Image[:4096])
	}
	f.Fuzz(func(t *testing.T, image []byte) {
		functions, err := vdsoFunctions(image)
		for name, offset := range functions {
			if err != nil || offset >= uint64(len(image)) {
				t.Errorf("%s at %#x of %d bytes, %v", name, offset, len(image), err)
			}
		}
	})
}
