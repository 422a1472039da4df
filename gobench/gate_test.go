package gobench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/stats"
)

// suite runs benchmarks whose processes differ at random, some by more than others, in as long as
// they have to take.
type suite struct {
	rng       *rand.Rand
	deviation map[string]float64
	slower    map[string]float64 // of the new revision
	pairs     map[string]int
	opNs      float64 // of each benchmark; 0 is 1e5
}

// suiteOf returns a suite whose i-th benchmark has the i-th relative standard deviation between processes.
func suiteOf(seed uint64, deviations ...float64) *suite {
	s := &suite{rng: rand.New(rand.NewPCG(1, seed)), pairs: map[string]int{}, deviation: map[string]float64{}}
	for i, deviation := range deviations {
		s.deviation[fmt.Sprintf("Benchmark%d", i)] = deviation
	}
	return s
}

// quickGate returns the plan of a quick gate.
func quickGate(maxTime time.Duration, limit float64) Plan {
	plan := QuickPlan
	plan.MaxTime = maxTime
	return plan.WithGate(&Gate{Limit: limit})
}

func (s *suite) Run(_ context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	ns := cmp.Or(s.opNs, 1e5) * math.Exp(s.deviation[b.Name]*s.rng.NormFloat64())
	if slower, ok := s.slower[b.Name]; ok && b.Revision == "" {
		ns *= slower
	}
	s.pairs[b.Name]++
	timedNs := ns * float64(n)
	return Observation{N: n, Procs: 1, TimedNs: timedNs, WallNs: timedNs + 1e6, CPUNs: timedNs + 1e6}, nil
}

func (s *suite) judge(benchmarks int, plan Plan) []Judged {
	setting := Setting{CPUs: 2}
	var groups [][]Benchmark
	for i := range benchmarks {
		name := fmt.Sprintf("Benchmark%d", i)
		groups = append(groups, []Benchmark{{Name: name, Revision: "then"}, {Name: name}})
	}
	measured, err := Measure(background, s, groups, plan, setting, nil)
	if err != nil {
		panic(err)
	}
	var all []Comparison
	for _, group := range measured {
		all = append(all, Compare(Conclude(group[0], plan, setting), Conclude(group[1], plan, setting), 2*plan.Precision, plan.Seed))
	}
	return Judge(all, plan)
}

// A benchmark that became so slow that there was no time for enough pairs is no common undecided one: it once passed, and one that
// became a little slower was found. Without a slowdown nothing of the kind is said, also of one repetition.
func TestFarSlowerIsNotPassedOver(t *testing.T) {
	for _, c := range []struct {
		opNs, slower float64
		far          bool
	}{{1e8, 20, true}, {5e7, 8, true}, {1e8, 1, false}, {3e9, 1, false}, {3e9, 1.5, false}} {
		s := suiteOf(1, 0.05)
		s.opNs, s.slower = c.opNs, map[string]float64{"Benchmark0": c.slower}
		j := s.judge(1, quickGate(7*time.Second, 0.05))[0]
		if j.FarBeyond != (j.Side == stats.Open && c.far) || c.far != (j.Side == stats.Beyond || j.FarBeyond) || j.FarBeyond != strings.Contains(j.WhyOpen, "far beyond the limit") {
			t.Errorf("%v times slower than %v ns: %s after %d pairs, far beyond: %v: %q", c.slower, c.opNs, j.Side, j.pairs.Len(), j.FarBeyond, j.WhyOpen)
		}
	}
}

// Two pairs of what became far slower were passed over, while one single run of each, or three pairs, were not.
func TestFarSlowerHasNoGap(t *testing.T) {
	for _, startNs := range []float64{1e6, 1e9, 3.8e9} {
		for _, opNs := range []float64{1e7, 5e7, 1e8, 2e8, 3e8, 4e8, 5e8, 5.5e8, 1e9, 3e9} {
			for _, slower := range []float64{2.4, 20} {
				setup := runnerOf(func(b Benchmark, n int, _ bool) Observation {
					ns := opNs * float64(n)
					if b.Revision == "" {
						ns *= slower
					}
					return Observation{N: n, Procs: 1, TimedNs: ns, WallNs: ns, CPUNs: ns, ProcessNs: ns + startNs}
				})
				plan := quickGate(7*time.Second, 0.05)
				all, err := Measure(background, setup, [][]Benchmark{{{Name: "BenchmarkX", Revision: "then"}, {Name: "BenchmarkX"}}}, plan, quietSetting(), nil)
				if err != nil {
					t.Fatal(err)
				}
				j := Judge(CompareAll(Conclude(all[0][0], plan, quietSetting()), Conclude(all[0][1], plan, quietSetting()), plan), plan)[0]
				if j.Side != stats.Beyond && !j.FarBeyond {
					t.Errorf("%v times slower than %v ns, after a start of %v ns: %s after %d pairs", slower, opNs, startNs, j.Side, j.pairs.Len())
				}
			}
		}
	}
}

// A single run beside programs that are not seen may have waited for a server that they delayed: unchanged code was far beyond.
// What they used at most, by looks before and after the run, was not asked, so that what became far slower was passed over where
// any process came or went.
func TestSingleRunBesideUnseenPrograms(t *testing.T) {
	const unknown, nobody, one = -1, 0, 1
	for _, c := range []struct {
		idles, waitNs, othersNs float64
		unseen                  float64 // CPUs that others use by /proc/stat
		far                     bool
	}{
		{0, 0, math.NaN(), unknown, true}, {0.9, 0, math.NaN(), unknown, false}, {0.9, 0, 0, unknown, true},
		{0, math.NaN(), math.NaN(), unknown, true}, {0.9, math.NaN(), math.NaN(), unknown, false},
		{0.9, 0, math.NaN(), nobody, true}, {0.9, 0, math.NaN(), one, false}, {0, 0, math.NaN(), one, true},
	} {
		var results []*Result
		for _, ns := range []float64{20e9, 43e9} {
			o := Observation{N: fewestFew, Procs: 1, TimedNs: ns, WallNs: ns, CPUNs: ns * (1 - c.idles), WaitNs: c.waitNs, OthersNs: c.othersNs}
			if c.unseen != unknown {
				o.Began = Around{At: time.Unix(1, 0), RanNs: 5e9, OwnNs: 1e9}
				o.Around = Around{At: time.Unix(1, int64(ns)), RanNs: 5e9 + o.CPUNs + c.unseen*ns, OwnNs: 1e9 + o.CPUNs}
			}
			s := &Series{first: o}
			s.standIn()
			results = append(results, Conclude(s, quickGate(7*time.Second, 0), quietSetting()))
		}
		plan := quickGate(7*time.Second, 0)
		if j := Judge(CompareAll(results[0], results[1], plan), plan)[0]; j.FarBeyond != c.far {
			t.Errorf("%+v: far beyond: %v: %q", c, j.FarBeyond, j.WhyOpen)
		}
	}
}

// A pair or two, a pair that is only known between wide bounds, or a figure that scatters by any factor, ended unchanged code
// with an error.
func TestFarBeyondIsSure(t *testing.T) {
	sure, wide := stats.Bounded{Lo: 3, Mid: 3, Hi: 3}, stats.Bounded{Lo: 1.5, Mid: 4, Hi: 6.5}
	repeated, once := Repetition{Few: Observation{N: 2}, Many: Observation{N: 9}}, Repetition{Many: Observation{N: 2}}
	for _, c := range []struct {
		of     Repetition
		metric string
		second []stats.Bounded
		far    bool
	}{
		{repeated, "", []stats.Bounded{sure}, false},
		{repeated, "", []stats.Bounded{sure, sure}, false},
		{repeated, "", []stats.Bounded{sure, sure, sure}, true},
		{repeated, "", []stats.Bounded{sure, wide, sure, sure}, false},
		{once, "", []stats.Bounded{sure}, true},
		{once, "", []stats.Bounded{wide}, false},
		{repeated, "p99-ns", []stats.Bounded{sure, sure, sure}, false},
		{once, "p99-ns", []stats.Bounded{sure}, false},
		{repeated, "", slices.Repeat([]stats.Bounded{sure}, 201), true}, // the signed-rank test counts 200
	} {
		r := &Result{}
		compared := Comparison{A: r, B: r, Metric: c.metric}
		for _, second := range c.second {
			r.Repetitions = append(r.Repetitions, c.of)
			compared.pairs.Add(stats.Bounded{Lo: 1, Mid: 1, Hi: 1}, second)
		}
		compared.isUnknown = len(c.second) > 9 // else they would be beyond the limit
		j := Judge([]Comparison{compared}, Plan{Gate: &Gate{Limit: 0.05, Metrics: map[string]float64{"p99-ns": 0.05}}})[0]
		if j.Side != stats.Open || j.FarBeyond != c.far || j.FarBeyond != strings.Contains(j.WhyOpen, "the ratio is 3 or more") {
			t.Errorf("%q, %d pairs, %d iterations of %v: %s, far beyond: %v: %q", c.metric, len(c.second), c.of.Few.N, c.second[:min(4, len(c.second))], j.Side, j.FarBeyond, j.WhyOpen)
		}
	}
}

// What is undecided has the time that the others leave, and is told with it: a slowdown of 10 %
// whose pairs scatter by a quarter takes more pairs than its own time allows. What is settled ends.
func TestTimeGoesToTheUndecided(t *testing.T) {
	plan := quickGate(1500*time.Millisecond, 0.05)
	s := suiteOf(7, 0.25, 0.001, 0.001, 0.001, 0.001)
	s.slower = map[string]float64{"Benchmark0": 1.2, "Benchmark1": 1.2}
	for i, j := range s.judge(5, plan) {
		want := stats.Within
		if i < 2 {
			want = stats.Beyond
		}
		if j.Side != want {
			t.Errorf("%s: %s, want %s: ratio %v, joint %v, P %v", j.B.Name, j.Side, want, j.Ratio, j.Joint, j.Beyond)
		}
		t.Logf("%s: %s after %d pairs", j.B.Name, j.Side, j.pairs.Len())
		if ownPairs := int(plan.MaxTime / (21 * time.Millisecond)); i == 0 && j.pairs.Len() <= ownPairs || i > 0 && j.pairs.Len() > 20 {
			t.Errorf("%s: %s after %d pairs; its own time is %d", j.B.Name, j.Side, j.pairs.Len(), ownPairs)
		}
	}
}

// Benchmarks that seem to be within a narrow limit, though no time would show that they are, wait while one that is
// slower needs their time. With its own time alone it was not found.
func TestWhatSeemsWithinWaits(t *testing.T) {
	plan := quickGate(3*time.Second, 0.01)
	s := suiteOf(12, 0.14, 0.03, 0.03, 0.03, 0.03)
	s.slower = map[string]float64{"Benchmark0": 1.05}
	own, all, left := 2*plan.MaxTime, time.Duration(0), 0
	for i, j := range s.judge(5, plan) {
		var spent time.Duration
		for _, r := range []*Result{j.A, j.B} {
			for _, rep := range r.Repetitions {
				spent += time.Duration(rep.Few.WallNs + rep.Many.WallNs)
			}
		}
		all += spent
		t.Logf("%s: %s after %d pairs, %v", j.B.Name, j.Side, j.pairs.Len(), spent)
		if found := j.Side == stats.Beyond; found != (i == 0) {
			t.Errorf("%s: %s", j.B.Name, j.Side)
		}
		switch {
		case i == 0 && spent <= own:
			t.Errorf("%s: found in its own time: the case shows nothing", j.B.Name)
		case i > 0 && spent < own:
			left++
		}
	}
	if all > 5*own || left < 2 {
		t.Errorf("all took %v of %v, and %d left time to others", all, 5*own, left)
	}
}

// Units with a limit that only one revision reports are named; those without a limit are not.
func TestUnpaired(t *testing.T) {
	reporting := func(units ...string) *Result {
		r := &Result{}
		for _, unit := range units {
			r.Metrics = append(r.Metrics, Metric{Unit: unit})
		}
		return r
	}
	plan := Plan{Gate: &Gate{Metrics: map[string]float64{"B/op": 0, "hits/s": 0, "misses": 0, "allocs/op": 0}}}
	if got := Unpaired(reporting("B/op", "hits/s", "rows"), reporting("B/op", "misses"), plan); !slices.Equal(got, []string{"hits/s", "misses"}) {
		t.Error(got)
	}
}

// A measurement that fails fast ends when one benchmark is slower. Without a failure it makes the same pairs.
func TestFailFast(t *testing.T) {
	pairs := func(slower float64, failFast bool) (sides []stats.Side, all int) {
		plan := quickGate(1500*time.Millisecond, 0.01)
		plan.FailFast = failFast
		s := suiteOf(3, 0.01, 0.05, 0.05)
		s.slower = map[string]float64{"Benchmark0": slower}
		for _, j := range s.judge(3, plan) {
			sides, all = append(sides, j.Side), all+j.pairs.Len()
		}
		return sides, all
	}
	for _, slower := range []float64{1, 1.1} {
		sides, fast := pairs(slower, true)
		_, whole := pairs(slower, false)
		t.Logf("%v times slower: %v, %d pairs of %d", slower, sides, fast, whole)
		if fails := slower > 1; slices.Contains(sides, stats.Beyond) != fails || (fast < whole/2) != fails || !fails && fast != whole {
			t.Errorf("%v times slower: %v, %d pairs of %d", slower, sides, fast, whole)
		}
	}
}

// Of suites of equal code no more fail than is allowed, with nothing at all allowed to be
// slower, and of as many with one slowdown that is visible nearly all do.
func TestGateOfSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const benchmarks = 6
	suites := 30 * cases(t)
	for _, slower := range []float64{1, 1.05} {
		failed, blamed := make([]bool, suites), make([]bool, suites)
		parallel(suites, func(i int) {
			plan := QuickPlan
			plan.Seed, plan.MaxTime, plan.Precision, plan.Gate = uint64(i), 7*time.Second, 1e-4, &Gate{}
			s := &suite{rng: rand.New(rand.NewPCG(uint64(i), 8)), pairs: map[string]int{}, deviation: map[string]float64{}, slower: map[string]float64{"Benchmark3": slower}}
			for k := range benchmarks {
				s.deviation[fmt.Sprintf("Benchmark%d", k)] = 0.02
			}
			for k, j := range s.judge(benchmarks, plan) {
				failed[i] = failed[i] || j.Side == stats.Beyond
				blamed[i] = blamed[i] || j.Side == stats.Beyond && (k != 3 || slower == 1)
			}
		})
		t.Logf("by %g: %d of %d fail, %d for what is equal", slower, trues(failed), suites, trues(blamed))
		if most := atMost(suites, stats.FalseAlarms); trues(blamed) > most {
			t.Errorf("by %g: %d of %d suites fail for what is equal, want at most %d", slower, trues(blamed), suites, most)
		}
		if least := atLeast(suites); slower > 1 && trues(failed) < least {
			t.Errorf("by %g: %d of %d suites fail, want %d", slower, trues(failed), suites, least)
		}
	}
}

// An operation of 10 ms that takes 5 % longer is seen in the time of one of 100 µs, as one of 40 benchmarks:
// with runs of 4 and 2 iterations the scatter of processes more than doubled in their difference.
func TestGateSeesLongOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	suites := 100 * cases(t)
	found := make([]bool, suites)
	parallel(suites, func(i int) {
		plan := QuickPlan
		plan.Seed, plan.MaxTime, plan.Precision = uint64(i), 7*time.Second, 1e-4
		s := &suite{rng: rand.New(rand.NewPCG(uint64(i), 9)), pairs: map[string]int{}, deviation: map[string]float64{"Benchmark0": 0.027}, slower: map[string]float64{"Benchmark0": 1.05}, opNs: 1e7}
		found[i] = s.judge(1, plan.WithGate(&Gate{FalseAlarms: stats.FalseAlarms / 40}))[0].Side == stats.Beyond
	})
	t.Logf("found in %d of %d", trues(found), suites)
	if least := atLeast(suites); trues(found) < least {
		t.Errorf("found in %d of %d, want %d", trues(found), suites, least)
	}
}

// allocating is a suite with two peculiar benchmarks: the new revision of one allocates once more, and the
// other reports a figure of its own that scatters.
type allocating struct {
	*suite
	more float64
}

func (a *allocating) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	o, err := a.suite.Run(ctx, b, n, traced)
	allocs := 0.
	if b.Name == "Benchmark1" {
		allocs = 9
		if b.Revision == "" {
			allocs += a.more
		}
	}
	if b.Name == "Benchmark0" && b.Revision == "" {
		allocs = a.more
	}
	o.Metrics = []Metric{{Unit: "hits/s", Value: 1e6 * math.Exp(0.02*a.rng.NormFloat64())}, {Unit: "B/op", Value: 16 * allocs}, {Unit: "allocs/op", Value: allocs}}
	return o, err
}

// An allocation more is found in the first pairs, also where there was none, and none is where there
// is none. A rate that scatters raises no alarm, and is found where it falls.
func TestMetricsAreGated(t *testing.T) {
	for more, want := range map[float64]stats.Side{0: stats.Within, 1: stats.Beyond} {
		plan := QuickPlan
		plan.Gate = &Gate{Limit: 0.05, Metrics: map[string]float64{"allocs/op": 0, "B/op": 0.01, "hits/s": 0.1}}
		s := &allocating{&suite{rng: rand.New(rand.NewPCG(2, 7)), pairs: map[string]int{}, deviation: map[string]float64{"Benchmark0": 0.01, "Benchmark1": 0.01}}, more}
		setting := Setting{CPUs: 2}
		measured, err := Measure(background, s, [][]Benchmark{{{Name: "Benchmark0", Revision: "then"}, {Name: "Benchmark0"}}, {{Name: "Benchmark1", Revision: "then"}, {Name: "Benchmark1"}}}, plan, setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []Comparison
		for _, group := range measured {
			all = append(all, CompareAll(Conclude(group[0], plan, setting), Conclude(group[1], plan, setting), plan)...)
		}
		judged := Judge(all, plan)
		if len(judged) != 8 {
			t.Fatalf("%d comparisons", len(judged))
		}
		for _, j := range judged {
			expected := stats.Within
			if strings.HasSuffix(j.Metric, "/op") {
				expected = want
			}
			if j.Side != expected {
				t.Errorf("%g allocations more: %s %q is %s, want %s: %v", more, j.B.Name, j.Metric, j.Side, expected, j.Ratio)
			}
			if j.Joint.Comparisons != 8 {
				t.Errorf("%d comparisons share the chance, want 8", j.Joint.Comparisons)
			}
		}
	}
}

// Of a rate, less is worse.
func TestRatesAreTurnedRound(t *testing.T) {
	of := func(value float64) *Result {
		r := &Result{}
		for i := range 20 {
			r.Repetitions = append(r.Repetitions, Repetition{Many: Observation{N: 1 + i, Metrics: []Metric{{Unit: "hits/s", Value: value}, {Unit: "allocs/op", Value: value}}}})
		}
		return r
	}
	if c := CompareMetric(of(100), of(50), "hits/s", 1); c.Ratio.Value != 2 || c.Outcome != stats.Slower {
		t.Errorf("half the rate: %v, %s", c.Ratio, c.Outcome)
	}
	if c := CompareMetric(of(100), of(100), "hits/s", 1); c.Ratio.Value != 1 || c.Outcome != stats.Same {
		t.Errorf("the same rate: %v, %s", c.Ratio, c.Outcome)
	}
}

// A pair with a zero counts, and each pair stays with the layout in which it was measured. It leaves the layouts' ratios as
// they are.
func TestZeroOfAMetric(t *testing.T) {
	of := func(value func(i int) float64) *Result {
		r := &Result{Benchmark: Benchmark{Layouts: make([]string, 2)}}
		for i := range 20 {
			r.Repetitions = append(r.Repetitions, Repetition{Layout: 1 + i%2, Many: Observation{N: 1 + i, Metrics: []Metric{{Unit: "misses", Value: value(i)}}}})
		}
		return r
	}
	c := CompareMetric(of(func(int) float64 { return 100 }), of(func(i int) float64 {
		if i == 4 {
			return 0
		}
		return []float64{108, 216}[i%2] // in the two layouts
	}), "misses", 1)
	if c.pairs.Len() != 20 || c.Zeros != 1 {
		t.Fatalf("%d pairs, %d with a 0", c.pairs.Len(), c.Zeros)
	}
	for i, log := range c.pairs.Logs() {
		if want := []float64{1.08, 2.16}[c.at[i]%2]; c.at[i] != 4 && math.Abs(math.Exp(log)-want) > 1e-9 {
			t.Errorf("repetition %d: %v times as many, want %v", c.at[i], math.Exp(log), want)
		}
	}
	if want := math.Log(1.08*2.16) / 2; math.Abs(c.placed.centre-want) > 1e-9 {
		t.Errorf("the layouts' mean is %g, want %g", c.placed.centre, want)
	}
}

// Where few values are 0, each of eight layouts has a ratio of its own, and a metric that doubled is beyond a limit of 5 %. Where
// no pair has a ratio, no layout has one, and nothing says NaN.
func TestZerosInLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	of := func(value, zeros float64) *Result {
		r := &Result{Benchmark: Benchmark{Layouts: make([]string, 8)}}
		for i := range 24 {
			v := value * math.Exp(0.05*rng.NormFloat64())
			if rng.Float64() < zeros {
				v = 0
			}
			r.Repetitions = append(r.Repetitions, Repetition{Layout: 1 + i%8, Many: Observation{N: 9, Metrics: []Metric{{Unit: "misses", Value: v}}}})
		}
		return r
	}
	plan := Plan{Gate: &Gate{Limit: math.NaN(), Metrics: map[string]float64{"misses": 0.05}}}
	judge := func(a, b *Result) Judged { return Judge([]Comparison{CompareMetric(a, b, "misses", 1)}, plan)[0] }
	beyond := 0
	for range 20 {
		if judge(of(100, 0.05), of(200, 0.05)).Side == stats.Beyond {
			beyond++
		}
	}
	if beyond < 18 { // without zeros, 20
		t.Errorf("%d of 20 are beyond the limit", beyond)
	}
	if j := judge(of(100, 1), of(200, 0)); j.Side != stats.Beyond {
		t.Errorf("some after none: %s", j.Side)
	}
	for _, zeros := range []float64{0.3, 0.6, 0.9} {
		if j := judge(of(100, zeros), of(100, zeros)); j.Side == stats.Beyond || strings.Contains(j.Why+j.WhyOpen, "NaN") || strings.Contains(j.Why+j.WhyOpen, "Inf") {
			t.Errorf("%g of the values are 0: %s, %q, %q", zeros, j.Side, j.Why, j.WhyOpen)
		}
	}
}

// 20 % more misses, where a quarter of the values is 0, passed a limit of 11 % as within it: the ratio was 1.1. With
// allocations the same holds if they are mostly above 0. Unchanged ones are within it.
func TestZerosDoNotHideAChange(t *testing.T) {
	of := func(value float64) *Result {
		r := &Result{}
		for i := range 40 {
			v := value * min(1, float64(i%4))
			r.Repetitions = append(r.Repetitions, Repetition{Many: Observation{N: 9, Metrics: []Metric{{Unit: "misses", Value: v}, {Unit: "allocs/op", Value: v}}}})
		}
		return r
	}
	plan := Plan{Gate: &Gate{Limit: math.NaN(), Metrics: map[string]float64{"misses": 0.11, "allocs/op": 0.11}}}
	for _, unit := range []string{"misses", "allocs/op"} {
		for value, want := range map[float64]stats.Side{5: stats.Within, 6: stats.Beyond} {
			c := CompareMetric(of(5), of(value), unit, 1)
			if j := Judge([]Comparison{c}, plan)[0]; j.Side != want || math.Abs(j.Ratio.Value-value/5) > 1e-9 {
				t.Errorf("%g %s after 5: %s, %+v", value, unit, j.Side, j.Ratio)
			}
		}
	}
}

// An allocation more is sure from eight repetitions, on a machine that has no time for more, and
// whatever became of the times; a count that is larger by chance in some of them is not.
func TestFewCountsAreEnough(t *testing.T) {
	of := func(values ...float64) *Result {
		r := &Result{Judgement: stats.Judgement{Verdict: stats.Unusable}}
		for _, value := range values {
			r.Repetitions = append(r.Repetitions, Repetition{Many: Observation{N: 9, Metrics: []Metric{{Unit: "allocs/op", Value: value}}}})
		}
		return r
	}
	plan := Plan{Gate: &Gate{Limit: math.NaN(), Metrics: map[string]float64{"allocs/op": 0}}}
	side := func(a, b *Result) stats.Side {
		return Judge([]Comparison{CompareMetric(a, b, "allocs/op", 1)}, plan)[0].Side
	}
	two, three := of(2, 2, 2, 2, 2, 2, 2, 2), of(3, 3, 3, 3, 3, 3, 3, 3)
	for _, c := range []struct {
		a, b *Result
		want stats.Side
	}{{two, three, stats.Beyond}, {three, two, stats.Within}, {two, two, stats.Within}, {two, of(2, 2, 3, 2, 2, 2, 2, 3), stats.Open}, {of(2, 2, 2), of(3, 3, 3), stats.Open}} {
		if got := side(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %s, want %s", c.a.Repetitions, c.b.Repetitions, got, c.want)
		}
	}
}

// In the same time, with processes that differ by 6 %, a slowdown of 5 % is found by the short runs of
// a gate in most suites, and by the long ones of the default plan in few.
func TestGateMakesManyShortPairs(t *testing.T) {
	found := map[bool]int{}
	const suites = 10
	for _, short := range []bool{false, true} {
		for i := range suites {
			plan := DefaultPlan
			plan.Seed, plan.MaxTime, plan.Precision, plan.Gate = uint64(i), 10*time.Second, 1e-3, &Gate{}
			if short {
				plan = plan.WithGate(plan.Gate)
			}
			s := &suite{rng: rand.New(rand.NewPCG(uint64(i), 9)), pairs: map[string]int{}, deviation: map[string]float64{"Benchmark0": 0.06}, slower: map[string]float64{"Benchmark0": 1.05}}
			if s.judge(1, plan)[0].Side == stats.Beyond {
				found[short]++
			}
		}
	}
	t.Logf("found in %d of %d suites by short pairs, in %d by long ones", found[true], suites, found[false])
	if found[true] < 8 || found[false] > found[true]-3 {
		t.Errorf("found in %d of %d suites by short pairs, in %d by long ones", found[true], suites, found[false])
	}
}
