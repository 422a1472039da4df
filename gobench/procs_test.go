package gobench

import (
	"os/exec"
	"testing"
)

// A benchmark that runs with a GOMAXPROCS of its own has the name that go test -cpu prints, and is found, run
// and located by it.
func TestSetProcs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	built, err := Compile(background, "testdata/memo", t.TempDir(), []string{"."}, Building{})
	if err != nil || len(built.Tests) != 1 {
		t.Fatalf("%+v: %v", built, err)
	}
	for procs, name := range map[int]string{1: "BenchmarkMemo", 3: "BenchmarkMemo-3"} {
		test := built.Tests[0]
		test.SetProcs = procs
		found, err := Processes{}.Discover(background, test, "Memo")
		if err != nil || len(found.Benchmarks) != 1 || found.Benchmarks[0].Name != name {
			t.Fatalf("%+v, want %s: %v", found, name, err)
		}
		b := found.Benchmarks[0]
		if o, err := (Processes{}).Run(background, b, 2, false); err != nil || o.Procs != procs || o.N != 2 {
			t.Errorf("%s: %+v: %v", name, o, err)
		}
		if _, line := Locate(b); line != 20 {
			t.Errorf("%s: declared at line %d, want 20", name, line)
		}
	}
}
