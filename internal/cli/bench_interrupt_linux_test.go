package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// busyModule is a module of two benchmarks that never end a measurement of the highest
// precision soon.
var busyModule = map[string]string{
	"go.mod": "module example.com/busy\n\ngo 1.21\n",
	"busy_test.go": `package busy

import "testing"

var sink uint64

func work(b *testing.B, rounds int) {
	for i := 0; i < b.N*rounds; i++ {
		sink = sink*0x9E3779B97F4A7C15 + 1
	}
}

func BenchmarkOne(b *testing.B) { work(b, 100) }
func BenchmarkTwo(b *testing.B) { work(b, 200) }
`,
}

// Interrupted, the benchmarks' processes and files go, and what was measured stays.
func TestInterruptedBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	module, temporary := t.TempDir(), t.TempDir()
	for name, text := range busyModule {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(module)
	for name, value := range map[string]string{"TMPDIR": temporary, "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOWORK": "off", "GOFLAGS": ""} {
		t.Setenv(name, value)
	}
	bothUnderWay := func(soFar string) bool { // so that the first was repeated at least once
		return strings.Contains(soFar, "|  BenchmarkOne") && strings.Contains(soFar, "|  BenchmarkTwo")
	}
	end := interruptWhen(t, bothUnderWay, "bench", "--quick", "--max-time", "10m", "--precision", "0.0001%", "--format", "json")
	if end.status.ExitStatus() != 130 {
		t.Errorf("exit status %d, want 130: %q", end.status.ExitStatus(), end.err)
	}
	for _, breach := range breaches(end.out.Bytes(), expectation{}) {
		t.Error(breach)
	}
	var d struct {
		Interrupted bool
		Results     []struct {
			Name, Verdict string
			Repetitions   []any
		}
	}
	if err := json.Unmarshal(end.out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	repetitions := 0
	for _, r := range d.Results {
		repetitions += len(r.Repetitions)
		if r.Verdict == "trusted" {
			t.Errorf("%s: half a measurement is trusted", r.Name)
		}
	}
	if !d.Interrupted || len(d.Results) != 2 || repetitions == 0 {
		t.Errorf("interrupted: %v, %d benchmarks, %d repetitions", d.Interrupted, len(d.Results), repetitions)
	}
	for _, process := range runningFrom(t, temporary) {
		t.Errorf("still there: %q", process)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// runningFrom lists the processes whose command line names the directory.
func runningFrom(t *testing.T, directory string) (all []string) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		line, _ := os.ReadFile(name) // it may have ended meanwhile
		if strings.Contains(string(line), directory) {
			all = append(all, string(line))
		}
	}
	return all
}
