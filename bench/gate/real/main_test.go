package main

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chronoscope/stats"
)

// A generated suite compiles, and a slowdown is planted into one of its benchmarks.
func TestGeneratedSuite(t *testing.T) {
	c, err := experiment{generated: 40}.checkOut(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "vet", "-C", c.dir, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before, err := os.ReadFile(filepath.Join(c.dir, "suite_test.go"))
	if n := strings.Count(string(before), "func Benchmark"); n != 40 || err != nil {
		t.Fatalf("%d benchmarks: %v", n, err)
	}
	names, err := c.plant(1, 0.05, 10)
	after, _ := os.ReadFile(filepath.Join(c.dir, "suite_test.go"))
	changed := 0
	for line := range strings.Lines(string(after)) {
		if strings.HasPrefix(line, "const ") && !strings.Contains(string(before), line) {
			changed++
		}
	}
	if err != nil || len(names) != 10 || changed != 10 {
		t.Errorf("%d constants changed for %q: %v", changed, names, err)
	}
}

// A planted slowdown raises one count of the suite; a module's benchmark runs its body once more now
// and then.
func TestPlant(t *testing.T) {
	e := experiment{}
	c, err := e.checkOut(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names, err := c.plant(3, 0.05, 1)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := os.ReadFile(filepath.Join(c.dir, "suite_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	planted := map[string]string{"Sum": "420", "Hash": "42", "Sort": "42", "Decode": "42", "Split": "105"}
	kind := strings.TrimPrefix(names[0], "Benchmark")
	if !strings.Contains(string(changed), "const rounds"+kind+" = "+planted[kind]+"\n") {
		t.Errorf("%q:\n%s", names, changed)
	}
	module := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.24\n",
		"a.go":      "package m\n\nfunc F() int { return 1 }\n",
		"a_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkF(b *testing.B) {\n\tb.ReportAllocs()\n\tfor i := 0; i < b.N; i++ {\n\t\tF()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e.module = module
	if c, err = e.checkOut(context.Background(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if names, err := c.plant(1, 0.03, 1); err != nil || !slices.Equal(names, []string{"BenchmarkF"}) {
		t.Errorf("%q: %v", names, err)
	}
	changed, _ = os.ReadFile(filepath.Join(c.dir, "a_test.go"))
	if !strings.Contains(string(changed), "\t\tF()\n\t\tif plantedBenchmarkF++; plantedBenchmarkF%33 == 0 {\n\t\t\tF()\n\t\t}\n\t}\n") {
		t.Errorf("%s", changed)
	}
	if names, err := c.plant(1, 0.03, 2); err == nil {
		t.Errorf("two of one benchmark were slowed: %q", names)
	}
	var kinds []string
	for seed := range 8 {
		if err := c.reset(context.Background()); err != nil {
			t.Fatal(err)
		}
		kind, err := c.edit(seed)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, strings.Fields(kind)[0])
		if _, err := parser.ParseFile(token.NewFileSet(), filepath.Join(c.dir, "a.go"), nil, 0); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if !slices.Equal(kinds[:4], []string{"comment", "unused", "longer", "import"}) {
		t.Errorf("%q", kinds)
	}
}

// What gates said is kept in a file, and gates that it has are not run again.
func TestOutcomes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gates.csv")
	all := outcomes{
		{kind: "equal", load: "none", seed: 0, pairs: 5, undecided: 2, seconds: 10, said: undecided},
		{kind: "equal", load: "none", seed: 1, pairs: 5, blamed: 1, status: 3, seconds: 12, said: slower, loudest: "BenchmarkSum", ratio: 1.05, lo: 1.02, hi: 1.07},
		{kind: "planted", load: "4", seed: 1, planted: []string{"BenchmarkSum"}, pairs: 5, found: 1, status: 3, seconds: 11},
	}
	for _, o := range all {
		if err := o.add(path); err != nil {
			t.Fatal(err)
		}
	}
	again, err := read(path)
	if err != nil || !slices.EqualFunc(again, all, func(a, b outcome) bool { return slices.Equal(a.fields(), b.fields()) }) || !again.has(outcome{kind: "equal", load: "none", seed: 1}) || again.has(outcome{kind: "equal", load: "4", seed: 1}) {
		t.Errorf("%+v: %v", again, err)
	}
	var out strings.Builder
	print(&out, again)
	for _, want := range []string{"equal none 2 1 1 0 0 2 10 11.0", "equal none 0 1 0 0 1", "planted 4 1 1 0 1 1 0 5 11.0"} {
		if !slices.ContainsFunc(strings.Split(out.String(), "\n"), func(line string) bool { return strings.Join(strings.Fields(line), " ") == want }) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

// A side beyond the limit is found where it was planted, also in a sub-benchmark, and blamed elsewhere.
func TestTake(t *testing.T) {
	o := outcome{planted: []string{"BenchmarkF"}}
	pair := func(name, metric, side string) string {
		return `{"b": "example.com/m.` + name + `", "metric": "` + metric + `", "outcome": "same", "ratio": {"value": 1.01, "lo": 1, "hi": 1.02}, "joint": {"side": "` + side + `"}}`
	}
	document := `{"pairs": [` + strings.Join([]string{
		pair("BenchmarkF/a", "", "beyond"), pair("BenchmarkFar", "", "beyond"), pair("BenchmarkG", "", "undecided"), pair("BenchmarkH", "", "within"), pair("BenchmarkH", "B/op", ""),
	}, ",") + `]}`
	if err := o.take([]byte(document)); err != nil || o.pairs != 4 || o.found != 1 || o.blamed != 1 || o.undecided != 1 {
		t.Errorf("%+v: %v", o, err)
	}
	var none outcome
	if err := none.take([]byte(`{}`)); err == nil {
		t.Error("a gate that judged nothing is no error")
	}
}

// The loudest verdict of a gate is that on its slowest pair beyond the limit; before it come pairs that only
// the list calls slower, faster ones, and undecided ones.
func TestLoudestVerdict(t *testing.T) {
	pair := func(outcome stats.Outcome, side stats.Side, ratio float64) stats.Pair {
		return stats.Pair{Ratio: stats.Estimate{Value: ratio, Lo: ratio - 0.01, Hi: ratio + 0.01}, Outcome: outcome, Joint: &stats.PairJoint{Side: side}}
	}
	var o outcome
	for _, c := range []struct {
		pair  stats.Pair
		said  verdict
		ratio float64
	}{
		{pair(stats.Same, stats.Within, 1.001), unchanged, 1.001},
		{pair(stats.Undecided, stats.Open, 0.98), undecided, 0.98},
		{pair(stats.Undecided, stats.Open, 1.01), undecided, 0.98},
		{pair(stats.Faster, stats.Within, 0.99), faster, 0.99},
		{pair(stats.Slower, stats.Open, 1.02), listedSlower, 1.02},
		{pair(stats.Slower, stats.Beyond, 1.03), slower, 1.03},
		{pair(stats.Slower, stats.Beyond, 1.07), slower, 1.07},
		{pair(stats.Same, stats.Within, 1.2), slower, 1.07},
	} {
		if o = o.hear(c.pair, "BenchmarkF"); o.said != c.said || o.ratio != c.ratio || o.hi != c.ratio+0.01 {
			t.Errorf("%+v: %+v", c, o)
		}
	}
}
