package bisect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat"

	"chronoscope/stats"
)

// history is a simulated line of commits: the logarithm of each one's time, and of what its place in
// memory adds.
type history struct {
	rng    *rand.Rand
	level  []float64
	placed []float64
	broken map[int]bool
	noise  noise
	pairs  int // made
	most   int // pairs of a commit; 0 for no limit
	made   map[int]int
	wrong  map[int]float64 // what is added to all pairs of a commit
	// layouts is the number of layouts of each commit; 0 for one build. From the commit moved on, functions lie in another
	// order than in the good end, and each layout deviates by placing.
	layouts, moved int
	placing        float64
	ofLayouts      map[int][][]float64 // the logarithms of a commit's ratios, by layout
}

// noise is what a machine with two busy programs on two CPUs does to runs of a tenth of a second.
type noise struct {
	jitter        float64 // standard deviation of a run
	heavy         float64 // scale of a Cauchy part
	wander, keep  float64 // a first-order autoregressive part, from run to run
	modes, apart  float64 // processes of two speeds: share of the slow ones, and by how much
	bursts, burst float64 // chance of a burst at each run, and its size
	length        int     // of bursts, in runs
	wanders       float64
	burstLeft     int
}

// kinds of noise at load 2: what is left once the wait for a CPU is taken off.
var kinds = map[string]noise{
	"jitter":      {jitter: 0.03},
	"wander":      {jitter: 0.01, wander: 0.05, keep: 0.9},
	"bursts":      {jitter: 0.01, bursts: 0.02, burst: 0.4, length: 15},
	"modes":       {jitter: 0.01, modes: 0.3, apart: 0.06},
	"heavy tails": {jitter: 0.01, heavy: 0.015},
	"all":         {jitter: 0.01, wander: 0.03, keep: 0.9, bursts: 0.01, burst: 0.3, length: 10, modes: 0.2, apart: 0.04, heavy: 0.005},
}

// placed is the standard deviation of what a build's place in memory adds.
const placed = 0.002

// newHistory is a line of so many commits with steps: the factor that each takes.
func newHistory(seed uint64, kind string, commits int, steps map[int]float64) *history {
	h := &history{rng: rand.New(rand.NewPCG(seed, 0xb15)), noise: kinds[kind], broken: map[int]bool{}, made: map[int]int{}, ofLayouts: map[int][][]float64{}}
	level := 0.
	for i := range commits + 1 {
		if factor, ok := steps[i]; ok {
			level += math.Log(factor)
		}
		h.level, h.placed = append(h.level, level), append(h.placed, placed*h.rng.NormFloat64())
	}
	return h
}

// run is the logarithm of the time of a run.
func (h *history) run(commit int) float64 {
	n := &h.noise
	n.wanders = n.keep*n.wanders + math.Sqrt(1-n.keep*n.keep)*h.rng.NormFloat64()
	x := h.level[commit] + h.placed[commit] + n.jitter*h.rng.NormFloat64() + n.wander*n.wanders
	if h.rng.Float64() < n.modes {
		x += n.apart
	}
	if n.heavy > 0 {
		x += math.Min(2, n.heavy*math.Abs(math.Tan(math.Pi*(h.rng.Float64()-0.5))))
	}
	if n.burstLeft == 0 && h.rng.Float64() < n.bursts {
		n.burstLeft = 1 + h.rng.IntN(2*n.length)
	}
	if n.burstLeft > 0 {
		n.burstLeft--
		x += n.burst
	}
	return x
}

// Compare implements Measurer.
func (h *history) Compare(ctx context.Context, commit, n int) (pairs Pairs, err error) {
	if err := ctx.Err(); err != nil {
		return pairs, err
	}
	if h.broken[commit] {
		return pairs, &SkipError{errors.New("it does not compile")}
	}
	if h.most > 0 {
		n = min(n, h.most-h.made[commit])
	}
	of, layouts := h.ofLayouts[commit], h.layouts
	if commit == len(h.level)-1 {
		layouts *= 4 // as of a real bad end
	}
	if of == nil && layouts > 0 {
		for range layouts {
			deviation := 0.
			if commit >= h.moved {
				deviation = h.placing * h.rng.NormFloat64()
			}
			of = append(of, []float64{deviation}) // first what the layout adds
		}
		h.ofLayouts[commit] = of
	}
	for i := range n {
		order := [2]int{0, commit}
		var times [2]float64
		first := h.rng.IntN(2)
		for _, i := range []int{first, 1 - first} {
			times[i] = math.Exp(h.run(order[i]))
		}
		times[1] *= math.Exp(h.wrong[commit])
		if layouts > 0 {
			layout := &of[(h.made[commit]+i)%layouts]
			times[1] *= math.Exp((*layout)[0])
			*layout = append(*layout, math.Log(times[1]/times[0]))
		}
		pairs.Add(exact(times[0]), exact(times[1]))
	}
	if layouts > 0 {
		var centres []float64
		for _, layout := range of {
			if len(layout) > 1 {
				centres = append(centres, stats.Median(layout[1:]))
			}
		}
		pairs.Layouts, pairs.Scatter = len(centres), stat.StdDev(centres, nil)
	}
	h.pairs += n
	h.made[commit] += n
	return pairs, nil
}

func exact(x float64) stats.Bounded { return stats.Bounded{Lo: x, Mid: x, Hi: x} }

func (h *history) search(t *testing.T, plan Plan) Result {
	t.Helper()
	r, err := Search(t.Context(), h, len(h.level)-1, plan)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cases is how many histories of each kind are searched; CHRONOSCOPE_CASES multiplies it.
func cases(t *testing.T, n int) int {
	t.Helper()
	text := os.Getenv("CHRONOSCOPE_CASES")
	if text == "" {
		return n
	}
	times, err := strconv.Atoi(text)
	if err != nil || times < 1 {
		t.Fatalf("CHRONOSCOPE_CASES: %q is no count: give a whole number, 1 or more", text)
	}
	return n * times
}

// tally counts how searches ended.
type tally struct {
	n, right, wrong, undecided int
	builds, pairs              []float64
	ratios, missed             int // of the steps that are found: their intervals, and those that miss
}

func (c *tally) add(h *history, r Result, want []int) {
	c.n++
	c.builds, c.pairs = append(c.builds, float64(r.Builds)), append(c.pairs, float64(h.pairs))
	var named []int
	for _, s := range r.Steps {
		if s.Found {
			if i := slices.IndexFunc(want, func(w int) bool { return s.First <= w && w <= s.Last }); i < 0 {
				c.wrong++
				return
			}
			named = append(named, s.First)
			if c.ratios++; s.First == s.Last && !s.Ratio.Covers(math.Exp(h.level[s.First]-h.level[s.First-1])) {
				c.missed++
			}
		}
	}
	whole := !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Found && s.First < s.Last })
	if r.Outcome == Found && whole && len(named) == len(want) || r.Outcome == NoChange && len(want) == 0 {
		c.right++
		return
	}
	c.undecided++
}

func (c *tally) String() string {
	slices.Sort(c.builds)
	slices.Sort(c.pairs)
	return fmt.Sprintf("%d: %d right, %d wrong, %d can't tell; builds median %.0f, most %.0f; pairs median %.0f, most %.0f",
		c.n, c.right, c.wrong, c.undecided, stats.Quantile(c.builds, 0.5), c.builds[c.n-1], stats.Quantile(c.pairs, 0.5), c.pairs[c.n-1])
}

// searched is a tally of n searches of histories that make says.
func searched(t *testing.T, n int, plan Plan, make func(i int) (*history, []int)) *tally {
	t.Helper()
	var mutex sync.Mutex
	var all sync.WaitGroup
	c := &tally{}
	for worker := range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := worker; i < n; i += runtime.GOMAXPROCS(0) {
				h, want := make(i)
				r := h.search(t, plan)
				mutex.Lock()
				c.add(h, r, want)
				mutex.Unlock()
			}
		})
	}
	all.Wait()
	return c
}

// atMost is how often what has that chance happens among n: a count that is hardly ever exceeded.
func atMost(n int, chance float64) int {
	expected := chance * float64(n)
	return int(expected + 3.1*math.Sqrt(expected))
}

// In 64 commits the one that takes longer is found, and no other is named.
func TestOneStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, c := range []struct {
		factor float64
		least  float64 // share that is found
		builds float64 // in 19 of 20
		n      int
	}{{1.05, 0.98, 12, 8}, {1.2, 0.98, 12, 8}, {1.02, 0.6, 12, 1}, {1 / 1.05, 0.98, 12, 2}, {2, 0.98, 12, 4}} {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			n, plan := cases(t, c.n), DefaultPlan
			plan.Faster = c.factor < 1
			all := searched(t, n, plan, func(i int) (*history, []int) {
				at := 1 + (i*29+7)%64
				return newHistory(uint64(i), kind, 64, map[int]float64{at: c.factor}), []int{at}
			})
			t.Logf("%.2f, %-11s %v", c.factor, kind, all)
			if all.wrong > atMost(n, DefaultPlan.Error) {
				t.Errorf("%.2f, %s: %d of %d name a wrong commit", c.factor, kind, all.wrong, n)
			}
			if least := int(c.least*float64(n)) - atMost(n, 1-c.least); all.right < least {
				t.Errorf("%.2f, %s: %d of %d found, want %d", c.factor, kind, all.right, n, least)
			}
			if stats.Quantile(all.builds, 0.95) > c.builds {
				t.Errorf("%.2f, %s: %v", c.factor, kind, all)
			}
		}
	}
}

// Two steps in one range are both found, whatever their order and sizes, and so is an improvement
// between the ends.
func TestTwoSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, steps := range []map[int]float64{{20: 1.05, 45: 1.05}, {20: 1.05, 45: 1.15}, {10: 1.2, 18: 1.1}, {30: 1.2, 50: 1 / 1.08}} {
		n := cases(t, 6)
		all := searched(t, n, DefaultPlan, func(i int) (*history, []int) {
			return newHistory(uint64(i), "all", 64, steps), slices.Sorted(maps.Keys(steps))
		})
		t.Logf("%v: %v", steps, all)
		if all.wrong > atMost(n, DefaultPlan.Error) || all.right < n*2/3 {
			t.Errorf("%v: %v", steps, all)
		}
	}
}

// Steps that are too near for the commits between them to be sure of are one range.
func TestNearSteps(t *testing.T) {
	for seed := range uint64(4) {
		r := newHistory(seed, "jitter", 64, map[int]float64{10: 1.2, 11: 1.1}).search(t, DefaultPlan)
		if r.Outcome != Found || r.Steps[0].First != 10 || r.Steps[len(r.Steps)-1].Last != 11 {
			t.Errorf("seed %d: %s: %+v", seed, r.Outcome, r.Steps)
		}
	}
}

// Where nothing changed, no commit is named, and one whose change is within the limit is none.
func TestNoStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		n := cases(t, 6)
		all := searched(t, n, DefaultPlan, func(i int) (*history, []int) {
			return newHistory(uint64(i), kind, 64, nil), nil
		})
		t.Logf("%-11s %v", kind, all)
		if all.wrong > atMost(n, DefaultPlan.Error) || all.right < n/2 {
			t.Errorf("%s: %v", kind, all)
		}
	}
}

// A commit that only moves functions is not named, though its time and that of all later ones differs. The change of the
// code is found. All commits had the same orders, so that what these added looked like a step where functions moved:
// 3.5 % in each order for a benchmark of a B-tree.
func TestMovedFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, c := range []struct {
		placing, factor float64
		least           float64 // share that is found
	}{{0.035, 1.25, 0.9}, {0.035, 1, 0}, {0.01, 1.08, 0.9}, {0.01, 1, 0}, {0.002, 1.05, 0.9}, {0.1, 1, 0}} {
		n := cases(t, 40)
		all := searched(t, n, DefaultPlan, func(i int) (*history, []int) {
			at := 1 + (i*29+7)%64
			steps, want := map[int]float64{at: c.factor}, []int{at}
			if c.factor == 1 {
				want = nil
			}
			h := newHistory(uint64(i), "jitter", 64, steps)
			h.layouts, h.moved, h.placing = 4, 1+(i*37+11)%64, c.placing
			return h, want
		})
		t.Logf("%.3f, %.2f: %v; of %d ratios of steps %d lie outside of their intervals", c.placing, c.factor, all, all.ratios, all.missed)
		if all.missed > atMost(all.ratios, 0.05) {
			t.Errorf("%g, %g: of %d intervals of steps %d miss", c.placing, c.factor, all.ratios, all.missed)
		}
		if all.wrong > atMost(n, DefaultPlan.Error) || all.right < int(c.least*float64(n))-atMost(n, 1-c.least) {
			t.Errorf("each layout deviates by %g, the code by a factor of %g: %v", c.placing, c.factor, all)
		}
	}
}

// A step in the first commit is found as well as a later one. The good end counted as one build, whose place in memory is not
// known, though each commit is compared with it in layouts of its own.
func TestStepInTheFirstCommit(t *testing.T) {
	n := cases(t, 20)
	all := searched(t, n, DefaultPlan, func(i int) (*history, []int) {
		h := newHistory(uint64(i), "jitter", 64, map[int]float64{1: 1.05, 40: 1.1})
		h.layouts, h.placing = 4, 0.01
		return h, []int{1, 40}
	})
	if all.wrong > atMost(n, DefaultPlan.Error) || all.right < n*3/4 {
		t.Error(all)
	}
}

// Commits that can't be built are gone round; the answer is a range where the step is among them.
func TestUnbuildable(t *testing.T) {
	for _, c := range []struct {
		broken      []int
		first, last int
	}{{[]int{32, 16}, 21, 21}, {[]int{19, 20, 21, 22, 23}, 19, 24}, {[]int{21}, 21, 22}, {[]int{22}, 21, 21}} {
		h := newHistory(1, "jitter", 64, map[int]float64{21: 1.3})
		for _, i := range c.broken {
			h.broken[i] = true
		}
		r := h.search(t, DefaultPlan)
		if r.Outcome != Found || len(r.Steps) != 1 || r.Steps[0].First != c.first || r.Steps[0].Last != c.last {
			t.Errorf("without %v: %s, %+v, want %d to %d", c.broken, r.Outcome, r.Steps, c.first, c.last)
		}
	}
	h := newHistory(1, "jitter", 64, map[int]float64{21: 1.3})
	h.broken[64] = true
	if _, err := Search(t.Context(), h, 64, DefaultPlan); err == nil {
		t.Error("a bad end that does not compile is no error")
	}
}

// One answer that is wrong whatever the number of pairs does not lead to a wrong commit: a commit whose
// time has nothing to do with its code's, on the way to the step.
func TestOneWrongAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	found, wrong := 0, 0
	const n = 24
	for i := range n {
		h := newHistory(uint64(i), "jitter", 64, map[int]float64{21: 1.1})
		h.wrong = map[int]float64{[]int{32, 16, 24, 20}[i%4]: []float64{-0.095, 0.095, -0.095, 0.095}[i%4]}
		r := h.search(t, DefaultPlan)
		for _, s := range r.Steps {
			if s.Found && s.First <= 21 && 21 <= s.Last {
				found++
			} else if s.Found && i%4 != 3 { // beside a wrong 20, the step is at 20 to all appearances
				wrong++
				t.Logf("case %d: %d to %d, %.3f", i, s.First, s.Last, s.Ratio.Value)
			}
		}
	}
	if found < n/3 || wrong > n/12 { // without doubt, 18 would be wrong
		t.Errorf("of %d, the step is found in %d, another commit in %d", n, found, wrong)
	}
}

// An interruption keeps what is known: the step is in the range.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	plan := DefaultPlan
	plan.Progress = func(r Result) {
		if r.Builds > 4 {
			cancel()
		}
	}
	r, err := Search(ctx, newHistory(3, "jitter", 64, map[int]float64{21: 1.3}), 64, plan)
	if !errors.Is(err, context.Canceled) || r.Outcome != CantTell || len(r.Steps) != 1 || r.Steps[0].First > 21 || r.Steps[0].Last < 21 || r.Steps[0].First == r.Steps[0].Last {
		t.Errorf("%v: %+v", err, r)
	}
}

// failing fails for good, as the good end may, once it was asked about several commits.
type failing struct {
	*history
	asked map[int]bool
}

var errFailing = errors.New("the good end can't be measured")

func (f failing) Compare(ctx context.Context, commit, n int) (Pairs, error) {
	if f.asked[commit] = true; len(f.asked) > 3 {
		return Pairs{}, errFailing
	}
	return f.history.Compare(ctx, commit, n)
}

// A failure of the good end late in the search keeps what is known, and is why no more is.
func TestGoodEndFailsLate(t *testing.T) {
	f := failing{newHistory(3, "jitter", 64, map[int]float64{21: 1.3}), map[int]bool{}}
	r, err := Search(t.Context(), f, 64, DefaultPlan)
	if !errors.Is(err, errFailing) || r.Outcome != CantTell || r.Why != errFailing.Error() {
		t.Errorf("%v: %+v", err, r)
	}
	if !r.Change.Covers(1.3) || len(r.Steps) != 1 || r.Steps[0].First > 21 || r.Steps[0].Last < 21 {
		t.Errorf("what is known is lost: %+v", r)
	}
}

// Too little time is no answer.
func TestTooLittleTime(t *testing.T) {
	for seed := range uint64(20) {
		h := newHistory(seed, "all", 64, map[int]float64{21: 1.01})
		h.most = 4 + int(seed) // 4 pairs have no interval
		if r := h.search(t, DefaultPlan); r.Outcome != CantTell || !strings.Contains(r.Why, "whether they differ by 1 %") || strings.Contains(r.Why, "NaN") {
			t.Errorf("seed %d: %+v", seed, r)
		}
	}
}

// The probability of a step in each of the gaps is that of full enumeration of all choices of steps,
// by numerical integration over the levels of each stretch.
func TestPosteriorByEnumeration(t *testing.T) {
	points := []point{{commit: 0, freedom: 30}, {commit: 3, centre: 0.002, error: 0.004, freedom: 20}, {commit: 5, centre: 0.03, error: 0.01, freedom: 12}, {commit: 8, centre: 0.05, error: 0.006, freedom: 9}, {commit: 16, centre: 0.047, error: 0.005, freedom: 40}}
	const deviation = 0.003
	m := newModel(points)
	got, _ := m.steps(deviation)
	want, total := make([]float64, 4), 0.
	for choice := 1; choice < 1<<4; choice++ { // there is a step
		weight, start := 1., 0
		for end := range points {
			isLast := end == len(points)-1
			if !isLast && choice>>end&1 == 0 {
				continue
			}
			integral := 0.
			for _, level := range m.levels {
				product := 1.
				for i := start; i <= end; i++ {
					product *= likelihood(m, i, level, deviation)
				}
				integral += product / float64(len(m.levels))
			}
			weight, start = weight*integral, end+1
		}
		for g := range 4 {
			none := math.Pow(1-stepsExpected/16, float64(points[g+1].commit-points[g].commit))
			if choice>>g&1 == 1 {
				none = 1 - none
			}
			weight *= none
		}
		total += weight
		for g := range 4 {
			if choice>>g&1 == 1 {
				want[g] += weight
			}
		}
	}
	for g := range want {
		if math.Abs(got[g]-want[g]/total) > 1e-9 {
			t.Errorf("gap %d: %v, by enumeration %v", g, got[g], want[g]/total)
		}
	}
}

// Commits that no common level suits have a step between them.
func TestPosteriorOfFarCommits(t *testing.T) {
	points := []point{{commit: 0, freedom: math.MaxInt16, exact: true}, {commit: 3, centre: 3, error: 1e-4, freedom: 900, layouts: 16, scatter: 1e-4}, {commit: 5, centre: 6, error: 1e-4, freedom: 900, layouts: 4, scatter: 1e-4}}
	if got := stepProbabilities(points); !(got[0] > 0.9) || !(got[1] > 0.9) {
		t.Errorf("probabilities %v", got)
	}
}

// likelihood is that of a point at a level, by the textbook's density of Student's t.
func likelihood(m model, i int, level, deviation float64) float64 {
	p, span := m.points[i], m.levels[len(m.levels)-1]-m.levels[0]
	sigma := math.Max(span/float64(len(m.levels)-1), math.Hypot(p.error, deviation))
	a, _ := math.Lgamma((p.freedom + 1) / 2)
	b, _ := math.Lgamma(p.freedom / 2)
	x := (level - p.centre) / sigma
	density := math.Exp(a-b) / (math.Sqrt(p.freedom*math.Pi) * sigma) * math.Pow(1+x*x/p.freedom, -(p.freedom+1)/2)
	if i == 0 || i == len(m.points)-1 {
		return density
	}
	return 0.99*density + 0.01/span
}
