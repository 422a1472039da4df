package gobench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chronoscope/stats"
)

// 100 ns of work behind 10 µs of set-up, between b.StopTimer and b.StartTimer (golang/go#27217), was
// unusable, as the process's time can't be told from it: the calls are timed one by one.
func TestWorkBehindSetup(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, load := range []int{1, 4} {
		usable, covered, near := 0, 0, 0
		const n = 20
		results := make([]*Result, n)
		parallel(n, func(i int) {
			s, noise := newShared(uint64(i), load, 100)
			s.untimedNs, s.readNs, s.noted = 10e3, 60, []call{}
			results[i] = measureOne(s, noise, QuickPlan)
		})
		for _, r := range results {
			off := math.Abs(r.Estimate.Value/100 - 1)
			if r.Verdict == stats.Trusted && off > 0.02 && off > 2*r.Estimate.RelativeHalfWidth() {
				t.Errorf("load %d: wrongly trusted: %+v", load, r.Estimate)
			}
			if r.Verdict == stats.Unusable {
				continue
			}
			usable++
			if r.Estimate.Covers(100) {
				covered++
			}
			if off <= 0.02 {
				near++
			}
		}
		t.Logf("load %d: of %d usable %d, covered %d, within 2 %% %d; the first %+v %s %q", load, n, usable, covered, near, results[0].Estimate, results[0].Verdict, results[0].Reasons)
		if usable < n*9/10 || covered < atLeast(usable) || near < usable*9/10 {
			t.Errorf("load %d: of %d usable %d, covered %d, within 2 %% %d", load, n, usable, covered, near)
		}
	}
}

// A call that lost its CPU, in its timed part or outside of it, is within its bounds.
func TestBoundsHoldCallsThatLostTheirCPU(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 5))
	exact := 0
	const n = 100_000
	for range n {
		ownNs, setupNs := logUniform(random, 50, 1e7), logUniform(random, 50, 1e7)
		c := call{sameThread: true, timedNs: ownNs, wallNs: ownNs + setupNs, cpuNs: ownNs + setupNs}
		c.cpuNs = 1e3 * math.Floor(c.cpuNs/1e3+random.Float64()) // getrusage(2) tells microseconds
		for range random.IntN(3) {
			awayNs := logUniform(random, 10e3, 2e7)
			if c.wallNs += awayNs; random.IntN(2) == 0 {
				c.timedNs += awayNs
			}
			c.involuntary++
			c.cpuNs += 3e3 * random.Float64() // the switch
		}
		low, high := c.boundsNs(50)
		if !(low <= ownNs && ownNs <= high) || high > c.timedNs {
			t.Fatalf("%v ns by itself are %v to %v: %+v", ownNs, low, high, c)
		}
		if low == high {
			exact++
		}
	}
	if exact < n/3 {
		t.Errorf("%d of %d are exact", exact, n)
	}
	moved := call{timedNs: 500, wallNs: 600}
	if low, high := moved.boundsNs(80); low != 80 || high != 500 {
		t.Errorf("a call that went on in another thread: %v to %v", low, high)
	}
	blocked := call{timedNs: 1e6, wallNs: 1e6, cpuNs: 1e3, sameThread: true, voluntary: 1}
	if low, high := blocked.boundsNs(80); low > 1e3 || high != 1e6 {
		t.Errorf("a call that blocked: %v to %v", low, high)
	}
}

// A reading's last part runs while the work already does, so that an empty call costs 60 and any other
// 55: the lines of two chains meet that of no links at 55, whatever strays among them.
func TestClockCostIsWhereNoLinksAre(t *testing.T) {
	var calls []call
	for i := range 1000 {
		c := call{twice: i%2 == 0, chainNs: 55 + 64*1.08}
		if c.twice {
			c.chainNs = 55 + 128*1.08
		}
		if i%50 == 0 {
			c.chainNs += 3e6
		}
		calls = append(calls, c)
	}
	if e := clockCost(calls); math.Abs(e.Value-55) > 0.01 || e.Lo > 55.01 || e.Hi < 54.99 || e.Hi > 56 {
		t.Errorf("%+v, want 55", e)
	}
}

// Calls of 20 µs beside others: the tail of the calls as they were shows the others, that on the CPU
// does not.
func TestCallsBesideOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 6))
	var all []call
	for i := range 4000 {
		ownNs := float64(20_000 + random.IntN(100))
		c := call{timedNs: ownNs + 60, wallNs: ownNs + 500, cpuNs: 20e3 + 1e3*float64(random.IntN(2)), sameThread: true, twice: i%2 == 0, chainNs: 60 + 64*float64(1+(i+1)%2), timerOn: true}
		if random.IntN(30) == 0 {
			c.timedNs, c.wallNs, c.involuntary = c.timedNs+3e6, c.wallNs+3e6, 1
		}
		all = append(all, c)
	}
	c := callsOf(all)
	as, on := c.All.Percentiles[2], c.OnCPU.Percentiles[2]
	if as.Lo < 2e6 || on.Hi > 45e3 || !on.Covers(20_099) || c.Preempted < 80 || c.Verdict != stats.Trusted {
		t.Errorf("p99 %+v as they were, %+v on the CPU, %d preempted, %s %q", as, on, c.Preempted, c.Verdict, c.Reasons)
	}
}

func TestCallsThatTheClockCannotTellApart(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 7))
	var all []call
	for i := range 400 {
		all = append(all, call{timedNs: 100 * float64(1+random.IntN(2)), chainNs: 100 * float64(random.IntN(3)), twice: i%2 == 0, timerOn: true, sameThread: true})
	}
	for name, c := range map[string]*Calls{"steps of 100 ns": callsOf(all), "no loop": callsOf(nil)} {
		if c.Verdict != stats.Unusable || len(c.Reasons) == 0 {
			t.Errorf("%s: %s %q", name, c.Verdict, c.Reasons)
		}
	}
}

func TestCallsAreReadStrictly(t *testing.T) {
	good := "calls\n160 12000 61 0 1 1 12000 0 0 \n0 90 0 1 0 1 0 0 0 \n"
	all, err := parseCalls(good)
	want := call{timedNs: 160, wallNs: 12000, chainNs: 61, timerOn: true, sameThread: true, cpuNs: 12000}
	if err != nil || len(all) != 1 || all[0] != want { // the second: the timer stood still
		t.Errorf("%+v, %v", all, err)
	}
	for _, bad := range []string{"", "call\n", "calls\n1 2 3\n", "calls\n160 12000 61 0 1 1 12000 0 x \n"} {
		if _, err := parseCalls(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// Each loop over b.N or b.Loop gets a mark, on its own line; those of other goroutines, of other
// counts, and of strides get none.
func TestLoopsThatAreMarked(t *testing.T) {
	const head = "package p\n\nimport \"testing\"\n\n"
	for _, c := range []struct{ body, all, stopping string }{
		{"for b.Loop() {", "for b.Loop() { chronoscopeCall(b, false);", ""},
		{"for i := 0; i < b.N; i++ {", "for i := 0; i < b.N; i++ { chronoscopeCall(b, false);", ""},
		{"for range b.N {", "for range b.N { chronoscopeCall(b, false);", ""},
		{"for i := range b.N { b.StopTimer()", "for i := range b.N { chronoscopeCall(b, true); b.StopTimer()", "for i := range b.N { chronoscopeCall(b, true); b.StopTimer()"},
		{"b.Run(\"x\", func(bb *testing.B) { for bb.Loop() {}}); for {", "b.Run(\"x\", func(bb *testing.B) { for bb.Loop() { chronoscopeCall(bb, false);}}); for {", ""},
		{"go func() { for i := 0; i < b.N; i++ {} }(); for {", "", ""},
		{"for i := 0; i < b.N; i += 8 {", "", ""},
		{"for i := 0; i < 8; i++ {", "", ""},
	} {
		source := head + "func BenchmarkX(b *testing.B) {\n" + c.body + "\n}\n}\n"
		for of, want := range map[Loops]string{AllLoops: c.all, StoppingLoops: c.stopping} {
			text, in := recordCalls([]byte(source), of)
			if want == "" && text+in != "" {
				t.Errorf("%s: %s", c.body, text)
			}
			if wanted := strings.Replace(source, c.body, want, 1); want != "" && (text != wanted || in != "p") {
				t.Errorf("%s in %q became\n%s", c.body, in, text)
			}
		}
	}
	renamed := "package q_test\n\nimport t \"testing\"\n\nfunc f(b *t.B) { for b.Loop() {} }\n"
	if text, in := recordCalls([]byte(renamed), AllLoops); in != "q_test" || !strings.Contains(text, "chronoscopeCall(b, false);") {
		t.Errorf("%q %s", in, text)
	}
	if text, _ := recordCalls([]byte("package p; func"), AllLoops); text != "" {
		t.Errorf("what does not parse became %s", text)
	}
}

// On this machine: each call of a loop is noted, those of a loop that stops its timer always, and the
// recorder adds no allocations to what the benchmark reports.
func TestRealCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	dir, into := t.TempDir(), t.TempDir()
	source := `package m

import "testing"

var kept []int

func BenchmarkStops(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		kept = make([]int, 100)
		b.StartTimer()
		kept[i%100] = i
	}
}

func BenchmarkLoop(b *testing.B) {
	for b.Loop() {
		for i := range 10_000 {
			kept[i%len(kept)] += i
		}
	}
}

func BenchmarkOther(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
		}
	})
}

func init() { kept = make([]int, 100) }
`
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build, err := Compile(background, dir, into, []string{"."}, Building{Calls: true})
	if err != nil || len(build.Tests) != 1 {
		t.Fatal(err, build.Failed)
	}
	test, p := build.Tests[0], Processes{}
	for name, want := range map[string]struct {
		calls int
		apart bool
	}{"BenchmarkStops": {300, true}, "BenchmarkLoop": {300, false}, "BenchmarkOther": {}} {
		test.Name = name
		calls, err := p.RunCalls(background, test, 300)
		if err != nil || len(calls) != want.calls {
			t.Errorf("%s: %d calls, %v", name, len(calls), err)
		}
		for _, c := range calls {
			if !(c.timedNs >= 0 && c.wallNs >= c.timedNs && c.chainNs > 0) {
				t.Fatalf("%s: %+v", name, c)
			}
		}
		o, err := p.Run(background, test, 300, false)
		if err != nil || (o.Apart != nil) != want.apart {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		for _, m := range o.Metrics {
			if m.Unit == AllocsUnit && m.Value != 0 {
				t.Errorf("%s: %v allocations", name, m.Value)
			}
		}
	}
	if after, err := os.ReadFile(filepath.Join(dir, "m_test.go")); err != nil || string(after) != source {
		t.Error("the source has changed")
	}
}

// callsRunner gives calls, or fails.
type callsRunner struct {
	asked int
	err   error
}

func (r *callsRunner) RunCalls(_ context.Context, _ Benchmark, n int) (all []call, err error) {
	r.asked += n
	for i := range n {
		all = append(all, call{timedNs: float64(5000 + i%97), wallNs: 5200, cpuNs: 5000, sameThread: true, chainNs: 60 + 64*float64(1+i%2), twice: i%2 == 1, timerOn: true})
	}
	return all, r.err
}

// The printed MB/s is of a time that includes the work of the recorder: it becomes that of the calls alone. A time of the
// benchmark's own stays.
func TestSpeedOfTimedCalls(t *testing.T) {
	var calls []call
	for i := range 100 {
		calls = append(calls, call{timedNs: 255, wallNs: 5200, cpuNs: 5200, sameThread: true, chainNs: 55 + 64*float64(1+i%2), twice: i%2 == 1})
	}
	printed := func() Observation {
		return Observation{N: 100, TimedNs: 100 * 1000, Metrics: []Metric{{Unit: "MB/s", Value: 8}, {Unit: "frogs/op", Value: 3}}}
	}
	o := printed().timedByCalls(calls) // 8 kB in 255 ns each
	if math.Abs(o.TimedNs-25500) > 1 || math.Abs(o.Metrics[0].Value-8e3/255) > 0.01 || o.Metrics[1].Value != 3 {
		t.Errorf("%+v, want %.4g MB/s", o, 8e3/255)
	}
	own := printed()
	own.OwnTime = true
	if o := own.timedByCalls(calls); o.TimedNs != 100*1000 || o.Apart != nil || o.Metrics[0].Value != 8 {
		t.Errorf("a time of its own became %+v", o)
	}
}

// As many calls are timed as fit into the time.
func TestCallsFitIntoTheTime(t *testing.T) {
	series := func(iterationNs float64) *Series {
		many := Observation{N: 10, WallNs: 10 * iterationNs}
		return &Series{Benchmark: Benchmark{CallsBinary: "x"}, Repetitions: []Repetition{{Many: many}}}
	}
	for iterationNs, most := range map[float64]int{1e4: 4400, 1e9: 420} {
		r, s := &callsRunner{}, series(iterationNs)
		if err := s.MeasureCalls(background, r, QuickPlan); err != nil || r.asked > most || s.calls == nil || s.calls.All.N != r.asked-4*callsWarming {
			t.Errorf("calls of %v ns: %d asked, %+v, %v", iterationNs, r.asked, s.calls, err)
		}
	}
	failing := series(1e4)
	if err := failing.MeasureCalls(background, &callsRunner{err: &FailedError{Why: "it fails"}}, QuickPlan); err != nil || failing.calls.Verdict != stats.Unusable || failing.calls.Reasons[0] != "it fails" {
		t.Errorf("%+v, %v", failing.calls, err)
	}
	gone := errors.New("gone")
	if err := series(1e4).MeasureCalls(background, &callsRunner{err: gone}, QuickPlan); err != gone {
		t.Error(err)
	}
}
