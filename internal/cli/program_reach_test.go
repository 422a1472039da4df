package cli

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/validate"
)

// What a validation has left of the methods of package program is found; what it has not, or
// what can't be read, is none.
func TestReachHere(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	m := machine.Identify()
	if found := reachHere(m); found != nil {
		t.Errorf("%+v", found)
	}
	store, err := validate.OpenStore(m)
	if err != nil {
		t.Skip(err)
	}
	for text, want := range map[string][]program.Reach{
		`[{"scheme":"program","load":11,"tolerance":0.01,"min_duration_ns":1e7,"max_duration_ns":1e9}, {"scheme":"kbest","load":11,"tolerance":0.01}]`: {{Method: program.CycleTime, Load: 11, Tolerance: 0.01, MinDurationNs: 1e7, MaxDurationNs: 1e9}},
		`[{"scheme":"getrusage","load":4,"tolerance":0.1,"min_duration_ns":1e7,"max_duration_ns":1e9}]`:                                                {{Method: program.ByIntervalCounting, Load: 4, Tolerance: 0.1, MinDurationNs: 1e7, MaxDurationNs: 1e9}},
		`{"scheme"`: nil, "": nil, `[{"scheme":7}]`: nil,
	} {
		if err := os.WriteFile(filepath.Join(store.Folder(), "reach.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found := reachHere(m)
		if len(found) != len(want) || len(want) > 0 && found[0] != want[0] {
			t.Errorf("%s: %+v, want %+v", text, found, want)
		}
	}
	if err := os.WriteFile(filepath.Join(store.Folder(), "reach.json"), []byte(`[{"scheme":"getrusage","load":4,"tolerance":0.1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := reachHere(m); len(found) != 1 || !math.IsNaN(found[0].MinDurationNs) || !math.IsNaN(found[0].MaxDurationNs) {
		t.Errorf("%+v", found)
	}
}
