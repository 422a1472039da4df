package validate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"chronoscope/machine"
)

func reach(scheme string, load int, ns float64) Reach {
	return Reach{Scheme: scheme, Load: load, Tolerance: 0.01, MinDurationNs: &ns, MaxDurationNs: &ns}
}

// What was found stays until it is found anew, for this machine only.
func TestReachIsKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("LocalAppData", t.TempDir())
	here := &machine.Machine{CPU: "one", Kernel: "6.1", CPUs: 2}
	if _, err := LoadReach(here); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first: %v", err)
	}
	s, err := OpenStore(here)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range [][]Reach{{reach("a", 1, 10), reach("b", 1, 20)}, {reach("a", 1, 30), reach("a", 2, 40)}} {
		if err := s.saveReach(found); err != nil {
			t.Fatal(err)
		}
	}
	got, err := LoadReach(here)
	if want := []Reach{reach("a", 1, 30), reach("a", 2, 40), reach("b", 1, 20)}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	updated := *here
	updated.Kernel = "6.2"
	if got, err := LoadReach(&updated); !errors.Is(err, fs.ErrNotExist) || len(got) > 0 {
		t.Errorf("another kernel: %+v %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(s.Folder(), "reach.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadReach(here); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a broken file: %v", err)
	}
	if err := s.saveReach([]Reach{reach("a", 1, 50)}); err != nil {
		t.Errorf("a broken file is not replaced: %v", err)
	}
}

// Without a place to keep things, all goes on.
func TestNoStore(t *testing.T) {
	var none *Store
	if err := errors.Join(none.write("x", 1), none.forget(), none.saveReach(nil)); err != nil {
		t.Error(err)
	}
	if err := none.read("x", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
