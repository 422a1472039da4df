package meter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"chronoscope/stats"
)

// trial is a simulated meter whose calls have a known mean.
type trial struct {
	tickNs, meanNs float64
	edges          float64 // that are expected
	share          float64 // of its time that a worker spends in calls
	workers, oneIn int
	kind           string
	call           duration
}

func (c trial) String() string {
	return fmt.Sprintf("%s of %.4g ticks, share %.2f, %d workers, %.0f edges, 1 in %d", c.kind, c.meanNs/c.tickNs, c.share, c.workers, c.edges, c.oneIn)
}

// Kinds of calls, of a mean of 1.
const (
	alike     = "alike"     // all of one length
	varied    = "varied"    // exponential
	disturbed = "disturbed" // of one length, but for preemptions
)

// draw makes a trial of calls from 1/10,000 of a tick to 3 ticks, with ticks from
// 1 µs to 16 ms.
func draw(rng *rand.Rand, kind string, shortest, longest float64) trial {
	between := func(a, b float64) float64 { return a * math.Pow(b/a, rng.Float64()) }
	c := trial{
		kind: kind, tickNs: between(1e3, 16e6), workers: 1 + rng.IntN(4), oneIn: 1 + 3*rng.IntN(2),
		share: 0.02 + 0.58*rng.Float64(), edges: between(10, 150),
	}
	c.meanNs = c.tickNs * between(shortest, longest)
	if c.meanNs > 0.1*c.tickNs {
		c.share = min(c.share, 0.25)
	}
	if c.meanNs < 0.001*c.tickNs {
		c.edges, c.oneIn = min(c.edges, 25), 1 // to save time
	}
	switch kind {
	case alike:
		c.call = constant(c.meanNs)
	case varied:
		c.call = exponential(c.meanNs)
	case disturbed: // half of the time
		c.call = preempted(c.meanNs/2, 2*c.tickNs, 2*c.tickNs)
	}
	return c
}

func (c trial) run(seed uint64) Snapshot {
	w := newWorld(seed, c.tickNs)
	m := New("trial", w.source(), Sampled(c.oneIn))
	w.seed(m)
	workers := make([]*worker, c.workers)
	for i := range workers {
		workers[i] = &worker{call: c.call, pause: exponential(c.meanNs * (1 - c.share) / c.share)}
	}
	// Calls in progress at the end are not counted, and they are the longer ones: let
	// there be many to a worker.
	n := max(c.edges*c.tickNs/c.meanNs, 10*float64(c.workers)) * float64(c.oneIn)
	w.run(m, int(math.Ceil(n)), workers...)
	return m.Snapshot()
}

// stratum counts how intervals fare.
type stratum struct {
	cases, covered, usable, usableCovered int
	widths                                []float64
}

func (s *stratum) take(r Report, truth float64) {
	s.cases++
	covers := r.Mean.Covers(truth)
	if covers {
		s.covered++
	}
	if butForWidth(r.Judgement) == stats.Trusted {
		s.usable++
		if covers {
			s.usableCovered++
		}
	}
	s.widths = append(s.widths, r.Mean.HalfWidth()/truth)
}

func (s *stratum) String() string {
	return fmt.Sprintf("%d of %d covered, of the trusted %d of %d; median half-width %.2f of the mean",
		s.covered, s.cases, s.usableCovered, s.usable, stats.Median(slices.Clone(s.widths)))
}

// The interval holds the true mean 95 times in 100, and does not do so by being wide.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	// A perfect method stays within these nearly always.
	const cases, fewest, most = 300, 277, 297
	for _, kind := range []string{alike, varied, disturbed} {
		for _, ticks := range [][2]float64{{1e-4, 1e-3}, {1e-3, 1e-2}, {1e-2, 0.1}, {0.1, 3}} {
			t.Run(fmt.Sprintf("%s/%g-%g", kind, ticks[0], ticks[1]), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(math.Float64bits(ticks[0]), uint64(len(kind))))
				var s stratum
				for range cases {
					c := draw(rng, kind, ticks[0], ticks[1])
					s.take(c.run(rng.Uint64()).Report(), c.meanNs)
				}
				if s.covered < fewest || s.covered > most || s.usable < cases*8/10 {
					t.Error(&s)
				}
				t.Log(&s)
			})
		}
	}
}

// request makes four calls at once, and goes on when all of them have ended.
func (w *simulated) request(m *Meter, call duration) {
	const calls = 4
	var starts [calls]Start
	var ends [calls]float64
	for i := range starts {
		starts[i] = m.Start()
		ends[i] = w.nowNs + call(w.rng)
	}
	for range calls {
		next := 0
		for i := range ends {
			if ends[i] < ends[next] {
				next = i
			}
		}
		w.nowNs, ends[next] = ends[next], math.Inf(1)
		m.Stop(starts[next])
	}
}

// Calls that coincide see edges together, and the interval knows that too.
func TestCallsThatCoincide(t *testing.T) {
	const cases, tickNs, meanNs = 200, 1e6, 1e4
	for _, edges := range []int{40, 150} {
		var s stratum
		for seed := range uint64(cases) {
			w := newWorld(seed, tickNs)
			m := New("request", w.source())
			pause, call := exponential(4*meanNs), around(meanNs)
			for range edges * tickNs / meanNs / 4 {
				w.nowNs += pause(w.rng)
				w.request(m, call)
			}
			s.take(m.Snapshot().Report(), meanNs)
		}
		t.Logf("%d edges: %v", edges, &s)
		if s.covered < 184 || s.covered > 198 {
			t.Errorf("%d edges: %v", edges, &s)
		}
	}
}

// What the tick may do to the calls around it stands beside the interval, which narrows
// with the edges: 10 million of them give 0.06 %.
func TestTickBiasStandsBesideTheInterval(t *testing.T) {
	s := Snapshot{Parts: []Part{{TickNs: 4e6, Calls: 1e9, Measured: 1e9, Edges: 1e7, Ticks: 1e7, Squares: 1e7}}}
	r := s.Report()
	if want := 1.96 / math.Sqrt(1e7); math.Abs(r.Mean.RelativeHalfWidth()/want-1) > 0.02 {
		t.Errorf("%+v", r.Mean)
	}
	if b := r.TickBias; b.Value != 0 || b.Lo != -b.Hi || math.Abs(b.Hi/r.Mean.Value-0.015) > 1e-9 {
		t.Errorf("%+v beside a mean of %v", b, r.Mean.Value)
	}
	if e := r.MeanWithBias().RelativeHalfWidth(); e < 0.015 || e > 0.0151 {
		t.Errorf("with the bias: %v", e)
	}
	if !strings.Contains(strings.Join(r.Caveats, " "), "narrower than the bias that the tick itself may cause") {
		t.Errorf("%q", r.Caveats)
	}
	few := Snapshot{Parts: []Part{{TickNs: 4e6, Calls: 1e6, Measured: 1e6, Edges: 1e4, Ticks: 1e4, Squares: 1e4}}}
	if r := few.Report(); strings.Contains(strings.Join(r.Caveats, " "), "narrower than") {
		t.Errorf("%q", r.Caveats)
	}
}

// It is the same for all machines, so that a fleet of many different ticks and samples
// does not average it out, and counts once.
func TestFleetKeepsWhatTheTickMayDo(t *testing.T) {
	var fleet Snapshot
	for i := range 20 {
		fleet.Parts = append(fleet.Parts, Part{TickNs: 4e6, OneIn: uint64(1 + i), Calls: 1e9, Measured: 1e9, Edges: 1e7, Ticks: 1e7, Squares: 1e7})
	}
	share := func() float64 { r := fleet.Report(); return r.TickBias.Hi / r.Mean.Value }
	if got := share(); math.Abs(got-0.015) > 1e-9 {
		t.Errorf("%v of the mean", got)
	}
	// Where half of the calls are timed one by one, half of the mean is known without it.
	timed := Part{TickNs: 1, Calls: 20e9, Measured: 20e9, Ticks: 20e9 * 40_000, Lengths: []uint64{}}
	fleet.Parts = append(fleet.Parts, timed)
	if got := share(); math.Abs(got-0.0075) > 1e-9 {
		t.Errorf("%v of the mean", got)
	}
}

// Calls that follow one another closely on one processor see the edges more evenly
// than by chance, and the interval knows.
func TestCloseCallsNarrowTheInterval(t *testing.T) {
	half := func(share float64) float64 {
		c := trial{kind: alike, tickNs: 1e6, meanNs: 1e4, share: share, workers: 1, oneIn: 1, edges: 400, call: constant(1e4)}
		return c.run(7).Report().Mean.HalfWidth()
	}
	sparse, close := half(0.05), half(0.8)
	// The variance is 1 - share of that of independent calls.
	if want := math.Sqrt(0.2 / 0.95); math.Abs(close/sparse/want-1) > 0.15 {
		t.Errorf("half-widths of %.0f and %.0f ns: a ratio of %.2f, want %.2f", close, sparse, close/sparse, want)
	}
}

// Perfectly regular calls leave the parts of a tick at both ends.
func TestRegularCallsHaveAnInterval(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	for i := range int64(1000) {
		c.call(m, i%10/9)
	}
	mean := m.Snapshot().Report().Mean
	// 1.96 times the root of 1/6 tick^2 over 1,000 calls is 800 ns.
	if mean.Value != 1e5 || mean.Hi-mean.Value < 800 || mean.Value-mean.Lo < 800 || mean.HalfWidth() > 10_000 {
		t.Errorf("%+v", mean)
	}
}

// A clock's cost is taken off, with its uncertainty.
func TestCostIsTakenOff(t *testing.T) {
	const cases, tickNs, meanNs = 200, 1e5, 500.0
	var s stratum
	for seed := range uint64(cases) {
		w := newWorld(seed, tickNs)
		source := w.source()
		costNs := 200 + 40*w.rng.NormFloat64() // the truth, which the meter knows to 40 ns
		source.costNs = &stats.Estimate{Value: 200, Lo: 200 - 1.96*40, Hi: 200 + 1.96*40, Unit: "ns"}
		m := New("costly", source)
		w.run(m, 30_000, &worker{call: constant(meanNs + costNs), pause: exponential(5 * meanNs)})
		s.take(m.Snapshot().Report(), meanNs)
	}
	if s.covered < 184 || s.covered > 198 {
		t.Error(&s)
	}
}
