package main

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"chronoscope/bench/internal/lines"
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
	names, err := c.plant(1, 0.05, 10, ".")
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
	names, err := c.plant(3, 0.05, 1, ".")
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
	if names, err := c.plant(1, 0.03, 1, "F/x"); err != nil || !slices.Equal(names, []string{"BenchmarkF"}) {
		t.Errorf("%q: %v", names, err)
	}
	changed, _ = os.ReadFile(filepath.Join(c.dir, "a_test.go"))
	if !strings.Contains(string(changed), "\t\tF()\n\t\tif plantedBenchmarkF++; plantedBenchmarkF%33 == 0 {\n\t\t\tF()\n\t\t}\n\t}\n") {
		t.Errorf("%s", changed)
	}
	if names, err := c.plant(1, 0.03, 2, "."); err == nil {
		t.Errorf("two of one benchmark were slowed: %q", names)
	}
	if names, err := c.plant(1, 0.03, 1, "G"); err == nil {
		t.Errorf("a benchmark that is not gated was slowed: %q", names)
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
	if !slices.Equal(kinds[:4], []string{"comment", "function", "string", "import"}) {
		t.Errorf("%q", kinds)
	}
}

// What gates said is kept in a file, and gates that it has are not run again.
func TestOutcomes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gates.jsonl")
	all := outcomes{
		{Kind: "equal", Load: "none", Seed: 0, Pairs: 5, Undecided: 2, Seconds: 10, Said: undecided, Ratio: stats.NoEstimate("", "")},
		{Kind: "equal", Load: "none", Seed: 1, Pairs: 5, Blamed: 1, Status: 3, Seconds: 12, Said: slower, Loudest: "BenchmarkSum", Ratio: stats.Estimate{Value: 1.05, Lo: 1.02, Hi: 1.07}},
		{Kind: "planted", Load: "4", Seed: 1, Planted: []string{"BenchmarkSum"}, Pairs: 5, Found: 1, Status: 3, Seconds: 11, Change: "comment", SameCode: true},
	}
	for _, o := range all {
		if err := lines.Append(path, o); err != nil {
			t.Fatal(err)
		}
	}
	read, err := lines.Read[outcome](path)
	again := outcomes(read)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(all) || !again.has(outcome{Kind: "equal", Load: "none", Seed: 1}) || again.has(outcome{Kind: "equal", Load: "4", Seed: 1}) {
		t.Errorf("%+v: %v", again, err)
	}
	var out strings.Builder
	print(&out, again)
	for _, want := range []string{"equal none 2 0 1 1 0 0 2 10 11.0", "equal none 0 1 0 0 1", "planted 4 1 1 1 0 1 1 0 5 11.0"} {
		if !slices.ContainsFunc(strings.Split(out.String(), "\n"), func(line string) bool { return strings.Join(strings.Fields(line), " ") == want }) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

// Gates of one file have the same settings: another share, limit, module or tool needs another file.
func TestOtherSettings(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "tool")
	write := func(text string) {
		if err := os.WriteFile(tool, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	c, err := experiment{}.checkOut(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := experiment{gate: gate{tool: tool, limit: 0.01}, share: 0.05}
	settings, err := e.settings(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	known := outcomes{{Settings: settings}}
	if err := known.check(settings); err != nil {
		t.Error(err)
	}
	other := map[string]func(){
		"share":  func() { e.share = 0.02 },
		"limit":  func() { e.limit = 0 },
		"tool":   func() { write("two") },
		"module": func() { c, err = experiment{generated: 2}.checkOut(t.Context(), t.TempDir()) },
	}
	for name, change := range other {
		e.share, e.limit = 0.05, 0.01
		write("one")
		change()
		if err != nil {
			t.Fatal(err)
		}
		if now, err := e.settings(t.Context(), c); err != nil || known.check(now) == nil {
			t.Errorf("another %s: %q, %v", name, now, err)
		}
	}
}

// Only a loop that the timer counts, and whose body can be copied, is slowed, and it belongs to the benchmark whose name is told.
func TestTimedLoops(t *testing.T) {
	bench := func(name string, body ...string) string {
		return "func " + name + "(b *testing.B) {\n\t" + strings.Join(body, "\n\t") + "\n}\n"
	}
	const setUp, timed = "for _, x := range items {\n\t\tadd(x)\n\t}", "for i := 0; i < b.N; i++ {\n\t\twork(i)\n\t}"
	content := []byte("package m\n" +
		bench("BenchmarkSetUp", "b.StopTimer()", setUp, "b.StartTimer()", timed) +
		bench("BenchmarkTable", "for _, s := range sizes {\n\t\tb.Run(s, func(b *testing.B) {\n\t\t\t"+timed+"\n\t\t})\n\t}") +
		bench("BenchmarkHelper", "helper(b)") +
		bench("BenchmarkCounts", "i := 0", "for i < b.N {\n\t\ti++\n\t}", "for j := 0; j < b.N; j++ {\n\t\tj += step\n\t}") +
		bench("BenchmarkBefore", timed, "b.ResetTimer()", "run(b)") +
		bench("BenchmarkStopped", "b.StopTimer()", timed) +
		bench("BenchmarkTwo", "for range b.N {\n\t\tprepare()\n\t}", "b.ResetTimer()", "for range b.N {\n\t\twork(2)\n\t}") +
		bench("BenchmarkLoop", "for b.Loop() {\n\t\twork(3)\n\t}") +
		bench("BenchmarkLabel", "for b.Loop() {\n\tagain:\n\t\tfor {\n\t\t\tcontinue again\n\t\t}\n\t}") +
		bench("BenchmarkText", "for b.Loop() {\n\t\twork(`a\n\t\tb`)\n\t}") +
		"func helper(b *testing.B) {\n\t" + timed + "\n}\n")
	found := map[string]string{}
	for _, l := range timedLoops(content) {
		found[l.name] = strings.TrimSpace(string(content[l.first:l.last]))
	}
	want := map[string]string{"BenchmarkSetUp": "work(i)", "BenchmarkTwo": "work(2)", "BenchmarkLoop": "work(3)"}
	if !maps.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

// What chooses functions is what go test takes for them (splitRegexp in package testing).
func TestFunctions(t *testing.T) {
	for bench, want := range map[string]string{
		"Get": "Get", "Get/small": "Get", "A/x|B/y|C": "A|B|C", "(A|B/small)": "(A|B/small)", "^(A|B)$/^(x|y/z)$": "^(A|B)$",
		"A[/|]b/c": "A[/|]b", `A\/b/c`: `A\/b`, "A]/b": "A]", "[(]A/b": "[(]A",
	} {
		if got := functions(bench); got != want {
			t.Errorf("%s: %q, want %q", bench, got, want)
		}
	}
}

// A share that one iteration in n does not give is refused.
func TestTurns(t *testing.T) {
	for share, want := range map[float64]int{0.02: 50, 0.05: 20, 0.33: 3, 0.5: 2, 1: 1, 0.7: 0, 0.4: 0, 2: 0, 3: 0} {
		if n, err := turns(share); n != want || (err != nil) != (want == 0) {
			t.Errorf("%g: %d, %v", share, n, err)
		}
	}
}

// Edits that add a function or a string change the machine code of the test binary, and a comment does not.
func TestEditsReachTheBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("links four binaries: make test runs it")
	}
	module := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.24\n",
		"a.go":      "package m\n\n// F does nothing.\nfunc F() int { return 1 }\n",
		"a_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkF(b *testing.B) {\n\tfor b.Loop() {\n\t\tF()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := experiment{module: module}.checkOut(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	base, err := c.code(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range 3 {
		if err := c.reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		kind, err := c.edit(seed)
		if err != nil {
			t.Fatal(err)
		}
		if code, err := c.code(t.Context()); err != nil || (code == base) != (kind == "comment") {
			t.Errorf("%s: the same code: %v, %v", kind, code == base, err)
		}
	}
}

// endsAt is an environment variable of a competitor that ends by itself: it names a folder for a sign of this.
const endsAt = "GATE_COMPETITOR_ENDS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(endsAt); dir != "" {
		signal.Ignore(syscall.SIGTERM)
		_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), nil, 0o600)
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "-compete" {
		compete(os.Args[2])
	}
	os.Exit(m.Run())
}

// A gate whose competitors end before it does is no gate under that load.
func TestLostCompetitors(t *testing.T) {
	release, err := load("2")
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Errorf("competitors that run to the end: %v", err)
	}
	dir := t.TempDir()
	t.Setenv(endsAt, dir)
	if release, err = load("2"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		ended, err := os.ReadDir(dir)
		if err == nil && len(ended) == runtime.NumCPU() {
			break
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("%d of %d competitors ended: %v", len(ended), runtime.NumCPU(), err)
		}
	}
	if err := release(); err == nil {
		t.Error("competitors that ended are not missed")
	}
}

// A side beyond the limit is found where it was planted, also in a sub-benchmark, and blamed elsewhere.
func TestTake(t *testing.T) {
	o := outcome{Planted: []string{"BenchmarkF"}}
	pair := func(name, metric, side string) string {
		return `{"b": "example.com/m.` + name + `", "metric": "` + metric + `", "outcome": "same", "ratio": {"value": 1.01, "lo": 1, "hi": 1.02}, "joint": {"side": "` + side + `"}}`
	}
	document := `{"pairs": [` + strings.Join([]string{
		pair("BenchmarkF/a", "", "beyond"), pair("BenchmarkFar", "", "beyond"), pair("BenchmarkG", "", "undecided"), pair("BenchmarkH", "", "within"), pair("BenchmarkH", "B/op", ""),
	}, ",") + `]}`
	if err := o.take([]byte(document)); err != nil || o.Pairs != 4 || o.Found != 1 || o.Blamed != 1 || o.Undecided != 1 {
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
		if o = o.hear(c.pair, "BenchmarkF"); o.Said != c.said || o.Ratio.Value != c.ratio || o.Ratio.Hi != c.ratio+0.01 {
			t.Errorf("%+v: %+v", c, o)
		}
	}
}
