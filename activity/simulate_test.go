package activity

import (
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
)

// source is a simulated cause of gaps.
type source struct {
	cause     Cause
	periodNs  float64 // 0 if random
	phaseNs   float64
	perSecond float64 // if random
	leastNs   float64
	spreadNs  float64 // of the exponential part of the cost above the least
	upToNs    float64 // not 0: the cost is log-uniform from the least to this
	jitterNs  float64
	missing   float64 // share of the teeth without a gap
	// fromNs and toNs bound a random source in time, unless toNs is 0.
	fromNs, toNs float64
}

// happening is one event that keeps the thread from running.
type happening struct {
	at, ns float64
	cause  Cause
}

func (s source) happen(rng *rand.Rand, lengthNs float64) []happening {
	var all []happening
	add := func(at float64) {
		if at > 0 && at < lengthNs && rng.Float64() >= s.missing {
			all = append(all, happening{at + s.jitterNs*rng.ExpFloat64(), s.cost(rng), s.cause})
		}
	}
	if s.periodNs > 0 {
		for at := s.phaseNs; at < lengthNs; at += s.periodNs {
			add(at)
		}
		return all
	}
	if s.toNs > 0 {
		lengthNs = min(lengthNs, s.toNs)
	}
	for at := s.fromNs; at < lengthNs; at += 1e9 / s.perSecond * rng.ExpFloat64() {
		add(at)
	}
	return all
}

func (s source) cost(rng *rand.Rand) float64 {
	if s.upToNs > 0 {
		return s.leastNs * math.Pow(s.upToNs/s.leastNs, rng.Float64())
	}
	return s.leastNs + s.spreadNs*rng.ExpFloat64()
}

// world describes the machine that a simulated thread runs on.
type world struct {
	lengthNs float64
	tick     *source // of the kernel; nil for a tickless one
	hz       float64 // the rate that the kernel reports for its tick
	combs    []source
	others   []source
	virtual  bool
	kept     int // how many gaps fit into the trace, 0 for all
}

// simulated is a trace with the true cause of each gap.
type simulated struct {
	*Trace
	truth []Cause
}

const simulatedTickNs = 0.4

// simulate makes the trace that a thread would record in the world. An interrupt that comes during
// another one makes the gap longer. An interrupt that comes while the thread has lost its CPU does
// not make the gap longer.
func (w world) simulate(rng *rand.Rand) simulated {
	sources := slices.Concat(w.combs, w.others)
	if w.tick != nil {
		sources = append(sources, *w.tick)
	}
	var all []happening
	for _, s := range sources {
		all = append(all, s.happen(rng, w.lengthNs)...)
	}
	slices.SortFunc(all, func(a, b happening) int { return int(math.Copysign(1, a.at-b.at)) })
	t := simulated{Trace: &Trace{Clock: "simulated", TickNs: simulatedTickNs, CPU: -1, Threshold: 200, Length: int64(w.lengthNs / simulatedTickNs)}}
	t.Kernel = Kernel{Known: true, TickHz: w.hz, Virtual: w.virtual}
	looked := 0.0
	for i := 0; i < len(all); {
		first := all[i]
		end, cause := first.at+first.ns, first.cause
		var use machine.ThreadUse
		for ; i < len(all) && (all[i] == first || all[i].at < end+200); i++ {
			t.count(all[i].cause)
			if n := joined(all[i], &use); n != Unexplained {
				cause = n
			}
			if !away(cause) && all[i] != first {
				end += all[i].ns
			}
			end = math.Max(end, all[i].at+all[i].ns)
		}
		if end > w.lengthNs {
			break
		}
		t.add(w.kept, Gap{Start: int64(first.at / simulatedTickNs), Ticks: int64((end - first.at) / simulatedTickNs), Own: first.cause == Runtime}, cause)
		if end-first.at > joinNs && first.cause != Runtime && t.Dropped == 0 {
			use.CPUNs += int64(end - looked)
			n := len(t.Gaps) - 1
			t.Joins = append(t.Joins, Join{From: n, Gap: n, Ticks: int64((end - looked) / simulatedTickNs), Throttled: cause == Throttled, Continued: cause == Stopped, Use: use})
			looked = end
		}
	}
	return t
}

// count adds a happening of that cause to the kernel's counts of interrupts.
func (t *simulated) count(cause Cause) {
	switch cause {
	case TimerTick:
		t.Kernel.TimerInterrupts++
	case Interrupt:
		t.Kernel.OtherInterrupts++
	}
}

// add keeps a gap, or drops it if the trace is full. The true cause of a gap that is too short to
// be told apart is Unexplained.
func (t *simulated) add(kept int, g Gap, cause Cause) {
	if kept > 0 && len(t.Gaps) == kept {
		t.Dropped++
		t.DroppedTicks += g.Ticks
		return
	}
	if cause == Hypervisor && t.Ns(g.Ticks) < shortestInterruptNs {
		cause = Unexplained
	}
	t.Gaps = append(t.Gaps, g)
	t.truth = append(t.truth, cause)
}

// away reports whether the thread loses its CPU by that cause.
func away(c Cause) bool { return c == Preempted || c == Stopped || c == Throttled }

// switchNs is what a simulated preemption takes beyond the wait.
const switchNs = 2500

// joined adds what a kernel would count for the thread during the happening, and returns the cause
// if the counts determine it.
func joined(h happening, u *machine.ThreadUse) Cause {
	switch h.cause {
	case Preempted, Throttled:
		u.WaitNs += int64(h.ns - switchNs)
		u.InvoluntarySwitches++
		u.CPUNs -= int64(h.ns - switchNs)
	case Stopped:
		u.VoluntarySwitches++
		u.CPUNs -= int64(h.ns)
	case PageFault:
		u.MinorFaults++
	case Hypervisor:
		u.CPUNs -= int64(h.ns) // as steal
		return Unexplained
	default:
		return Unexplained
	}
	return h.cause
}

// outcome says how well a trace was analysed.
type outcome struct {
	gaps, right int
	wrong       map[[2]Cause]int
	// combs is the number of true combs, found the number of combs whose period was found to within
	// a thousandth, and false the number of combs that were found but don't exist.
	combs, found, false int
	tick                bool // whether it was right that there is a tick, or none
	least               bool // whether the tick's least cost is right to one tick of the clock
}

func judge(w world, t simulated) outcome {
	a := Analyse(t.Trace)
	o := outcome{gaps: len(t.Gaps), wrong: map[[2]Cause]int{}, tick: (a.Tick != nil) == (w.tick != nil), least: true}
	for j, g := range t.Gaps {
		if g.Cause == t.truth[j] {
			o.right++
		} else {
			o.wrong[[2]Cause{t.truth[j], g.Cause}]++
		}
	}
	combs := w.combs
	if w.tick != nil {
		combs = append(slices.Clone(combs), *w.tick)
	}
	o.combs, o.false = len(combs), len(a.Combs)
	for _, want := range combs {
		if slices.ContainsFunc(a.Combs, func(c Comb) bool {
			return (c.Source == TimerTick) == (want.cause == TimerTick) && math.Abs(c.Period.Value/want.periodNs-1) < 1e-3
		}) {
			o.found, o.false = o.found+1, o.false-1
		}
	}
	if w.tick != nil && a.Tick != nil {
		least := math.Inf(1)
		for j, c := range t.truth {
			if c == TimerTick {
				least = math.Min(least, t.Ns(t.Gaps[j].Ticks))
			}
		}
		o.least = math.Abs(a.Tick.MinNs.Value()-least) <= t.TickNs
	}
	return o
}

// someTick and the functions below are the ways in which a simulated kernel and host tick.
func someTick(rng *rand.Rand, hz float64) *source {
	return &source{cause: TimerTick, periodNs: 1e9 / hz * (1 + 1e-4*rng.NormFloat64()), phaseNs: 1e6 * rng.Float64(),
		leastNs: 1000 + 4000*rng.Float64(), spreadNs: 3000 * rng.Float64(), jitterNs: 300, missing: 0.02}
}

func someHost(rng *rand.Rand, periodNs float64) source {
	return source{cause: Hypervisor, periodNs: periodNs, phaseNs: 1e6 * rng.Float64(),
		leastNs: 2000 + 2000*rng.Float64(), spreadNs: 2000, jitterNs: 500, missing: 0.02}
}

// usual returns the usual sources of gaps other than combs.
func usual() []source {
	return []source{
		{cause: Interrupt, perSecond: 50, leastNs: 1500, spreadNs: 3000},
		{cause: Preempted, perSecond: 20, leastNs: 50e3, spreadNs: 2e6},
		{cause: PageFault, perSecond: 10, leastNs: 6e3, spreadNs: 3e3},
		{cause: Stopped, perSecond: 1, leastNs: 1e6, spreadNs: 20e6},
		{cause: Throttled, perSecond: 1, leastNs: 5e6, spreadNs: 20e6},
		{cause: Runtime, periodNs: 500e3, leastNs: 900, spreadNs: 200},
		{cause: Unexplained, perSecond: 500, leastNs: 100, spreadNs: 60},
	}
}

func anyHz(rng *rand.Rand) float64 { return []float64{100, 250, 300, 1000}[rng.IntN(4)] }

// worlds are the kinds of worlds in which traces are simulated, and how many of each.
var worlds = map[string]struct {
	n     int
	build func(rng *rand.Rand) world
}{
	// There are several combs with jitter and missing teeth, and all other causes.
	"usual": {60, func(rng *rand.Rand) world {
		hz := anyHz(rng)
		w := world{lengthNs: 2e9, hz: hz, tick: someTick(rng, hz), others: usual(), virtual: rng.IntN(2) == 0}
		if w.virtual {
			w.combs = []source{someHost(rng, 700e3+11e6*rng.Float64())}
		}
		return w
	}},
	// The periods of the combs are multiples of one another, to parts in a million.
	"harmonic": {12, func(rng *rand.Rand) world {
		periods := [][2]float64{{4e6, 1e6}, {4e6, 10e6}, {10e6, 1e6}, {1e6, 4e6}}[rng.IntN(4)]
		w := world{lengthNs: 4e9, hz: 1e9 / periods[0], tick: someTick(rng, 1e9/periods[0]), others: usual(), virtual: true}
		w.tick.periodNs = periods[0]
		w.combs = []source{someHost(rng, periods[1]*(1+20e-6*rng.NormFloat64()))}
		w.combs[0].phaseNs = w.tick.phaseNs + 1e6*(0.1+0.8*rng.Float64())
		return w
	}},
	// The trace is full and drops later gaps.
	"dropping": {8, func(rng *rand.Rand) world {
		hz := anyHz(rng)
		return world{lengthNs: 3e9, hz: hz, tick: someTick(rng, hz), others: usual(), kept: 2000 + rng.IntN(2000)}
	}},
	// Three competitors take turns at the tick, so that most of the teeth fall into time when the
	// thread waits.
	"competing": {8, func(rng *rand.Rand) world {
		w := world{lengthNs: 6e9, hz: 250, tick: someTick(rng, 250), others: usual()}
		w.others[1] = source{cause: Preempted, periodNs: 4 * w.tick.periodNs, phaseNs: w.tick.phaseNs + 1000, leastNs: 3*w.tick.periodNs - 20e3, spreadNs: 5000, missing: 0.1}
		return w
	}},
	// One device interrupts in bursts, and two more at random.
	"devices": {8, func(rng *rand.Rand) world {
		hz := anyHz(rng)
		w := world{lengthNs: 2e9, hz: hz, tick: someTick(rng, hz), others: usual()}
		w.others = append(w.others, source{cause: Interrupt, perSecond: 1000, leastNs: 2000, spreadNs: 500},
			source{cause: Interrupt, perSecond: 200, leastNs: 4000, spreadNs: 8000})
		for range 20 {
			w.others = append(w.others, source{cause: Interrupt, periodNs: 30e3 + 20e3*rng.Float64(), phaseNs: 2e9 - 3e6*rng.Float64(), leastNs: 1500, spreadNs: 2000})
		}
		return w
	}},
	// The kernel is tickless, with and without a host that ticks.
	"tickless": {8, func(rng *rand.Rand) world {
		w := world{lengthNs: 2e9, hz: anyHz(rng), others: usual(), virtual: rng.IntN(2) == 0}
		if w.virtual {
			w.combs = []source{someHost(rng, []float64{1e6, 4e6, 10e6}[rng.IntN(3)])}
		}
		return w
	}},
	// There are very many short gaps, as on a busy host.
	"crowded": {1, func(rng *rand.Rand) world {
		w := world{lengthNs: 4e9, hz: 250, tick: someTick(rng, 250), virtual: true, others: []source{
			{cause: Hypervisor, perSecond: 1e5, leastNs: 150, upToNs: 5000}}}
		w.tick.leastNs, w.tick.spreadNs = 12e3, 3e3
		w.combs = []source{someHost(rng, []float64{1e6, 10e6}[rng.IntN(2)]*(1+20e-6*rng.NormFloat64()))}
		w.combs[0].leastNs, w.combs[0].spreadNs = 7000, 2000
		return w
	}},
}

// In simulated traces of all kinds of worlds, all combs are found with their period right to a
// thousandth, and no others; of each trace 97 in 100 gaps are attributed to their true cause; and
// the tick's least cost is right to one tick of the clock. In one trace of a hundred each of these
// may fail if the trace itself does not contain the information: a comb of few teeth is lost among
// thousands of gaps as long, or another gap stands in the place of a missing tooth and is a little
// shorter than the teeth.
func TestSimulatedTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	traces, poor, lost, least := 0, 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(worlds)) {
		kind := worlds[name]
		sum := outcome{wrong: map[[2]Cause]int{}}
		for i, o := range judgeAll(clocktest.Cases(t, 2*kind.n), kind.build) {
			sum.add(o)
			traces++
			if float64(o.right) < 0.97*float64(o.gaps) {
				poor++
			}
			if o.found < o.combs || o.false > 0 || !o.tick {
				lost++
				t.Logf("%s, seed %d: %d of %d combs found and %d false ones", name, i, o.found, o.combs, o.false)
			}
			if !o.least {
				least++
			}
		}
		t.Logf("%s: in %d traces %d of %d gaps right (%.2f %%), %d of %d combs found and %d false ones; wrong, as [truth found]: %v",
			name, clocktest.Cases(t, 2*kind.n), sum.right, sum.gaps, 100*float64(sum.right)/float64(sum.gaps), sum.found, sum.combs, sum.false, sum.wrong)
	}
	t.Logf("of %d traces %d have less than 97 %% of the gaps right, %d a wrong comb, %d a wrong least cost", traces, poor, lost, least)
	if most := traces / 100; traces < 100 || poor > most || lost > most || least > most {
		t.Errorf("of %d traces %d have less than 97 %% of the gaps right, %d a wrong comb, %d a wrong least cost", traces, poor, lost, least)
	}
}

// judgeAll simulates and judges n traces, each with a seed of its own.
func judgeAll(n int, build func(*rand.Rand) world) []outcome {
	outcomes := make([]outcome, n)
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		all.Go(func() {
			for i := worker; i < n; i += workers {
				rng := rand.New(rand.NewPCG(uint64(i), 6))
				w := build(rng)
				outcomes[i] = judge(w, w.simulate(rng))
			}
		})
	}
	all.Wait()
	return outcomes
}

func (o *outcome) add(other outcome) {
	o.gaps, o.right = o.gaps+other.gaps, o.right+other.right
	o.combs, o.found, o.false = o.combs+other.combs, o.found+other.found, o.false+other.false
	for k, v := range other.wrong {
		o.wrong[k] += v
	}
}

// Random gaps have no comb, however many there are and whatever tick is expected; the same holds
// for gaps that come in bursts.
func TestNoiseHasNoCombs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	cases := clocktest.Cases(t, 4)
	for seed := range cases {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		n := math.Pow(10, 3+3*float64(seed)/float64(cases-1))
		w := world{lengthNs: 10e9, hz: 250, others: []source{{cause: Unexplained, perSecond: n / 10, leastNs: 500, upToNs: 5000}}}
		if seed%2 == 1 {
			w.others = bursts(rng, n, w.lengthNs)
		}
		trace := w.simulate(rng)
		trace.Kernel.Known = false // so that the tick is looked for
		if a := Analyse(trace.Trace); len(a.Combs) > 0 {
			t.Errorf("seed %d: %d combs among %d gaps, the first of %.0f ns with %d teeth", seed, len(a.Combs), len(trace.Gaps), a.Combs[0].Period.Value, len(a.Combs[0].Gaps))
		}
	}
}

// bursts returns 20 bursts of 20 ms each that together hold half of n gaps; the other half is
// spread over the whole time.
func bursts(rng *rand.Rand, n, lengthNs float64) []source {
	sources := []source{{cause: Unexplained, perSecond: n / 20, leastNs: 500, upToNs: 5000}}
	for range 20 {
		from := lengthNs * rng.Float64()
		sources = append(sources, source{cause: Unexplained, perSecond: n / 40 / 20e-3, leastNs: 500, upToNs: 3000, fromNs: from, toNs: from + 20e6})
	}
	return sources
}
