package gobench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const discoverModule = `package m

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func BenchmarkVariable(b *testing.B) {
	if os.Getenv("DISCOVER_DATABASE") == "" {
		b.Skip("no DISCOVER_DATABASE")
	}
}

func much() { fmt.Println(strings.Repeat("it prints much\n", 100_000)) }

func BenchmarkPrints1(b *testing.B) { much() }
func BenchmarkPrints2(b *testing.B) { much() }
func BenchmarkPrints3(b *testing.B) { much() }

func BenchmarkHidden(b *testing.B) {
	for range b.N {
		os.Getpid()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(3, "frogs/op")
}

func BenchmarkPanics(b *testing.B) { panic("oh") }

func BenchmarkOther(b *testing.B) {}
`

// Benchmarks run with the environment of this process, none is lost because others print much, and a panic is blamed on the
// benchmark that has it.
func TestDiscoverARealModule(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": discoverModule} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build, err := Compile(background, dir, t.TempDir(), []string{"."}, Building{})
	if err != nil || len(build.Tests) != 1 {
		t.Fatalf("%+v: %v", build, err)
	}
	t.Setenv("DISCOVER_DATABASE", "yes")
	found, err := Processes{}.Discover(background, build.Tests[0], ".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range found.Benchmarks {
		names = append(names, b.Name)
	}
	if got, want := strings.Join(names, " "), "BenchmarkVariable BenchmarkPrints1 BenchmarkPrints2 BenchmarkPrints3 BenchmarkHidden BenchmarkOther"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	if len(found.Skipped) > 0 || len(found.Failed) != 1 || found.Failed[0].Benchmark.Name != "BenchmarkPanics" {
		t.Errorf("skipped %q, failed %v", found.Skipped, found.Failed)
	}
	hidden := build.Tests[0].named("BenchmarkHidden")
	if o, err := (Processes{}).Run(background, hidden, 1000, false); err != nil || !(o.TimedNs > 0) || len(o.Metrics) == 0 {
		t.Errorf("a benchmark that hides its ns/op: %+v: %v", o, err)
	}
}
