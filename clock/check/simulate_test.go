package check

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// simulation is a machine with clocks, and with what its kernel says about them.
type simulation struct {
	machine    *clocktest.Machine
	subjects   []*subject
	cpus       int
	latencyNs  clocktest.Distribution // of one hand-over, one way
	discipline discipline
	refuses    error // the kernel's error when it is asked for its discipline
	files      fstest.MapFS
	meanwhile  func(share float64) // is called while the clocks are watched
	plan       Plan
}

// newSimulation returns a machine without faults that has the kernel's raw clock.
func newSimulation(seed uint64) *simulation {
	s := &simulation{
		machine: clocktest.NewMachine(seed), cpus: 2,
		latencyNs: clocktest.WithOutliers(clocktest.Jittered(70, 0.15), 0.02, 100),
		files:     fstest.MapFS{clocksourceFile: {Data: []byte("tsc\n")}},
		meanwhile: func(float64) {}, plan: QuickPlan,
	}
	s.add("monotonic-raw", &clocktest.Clock{QuantumNs: 1, UnitNs: 1, Cost: clocktest.Jittered(25, 0.1)})
	return s
}

func (s *simulation) seed() *rand.Rand { return s.machine.Rand() }

// fine returns a clock without faults.
func fine() *clocktest.Clock {
	return &clocktest.Clock{QuantumNs: 2, UnitNs: 1, PhaseNs: 1e9, Cost: clocktest.WithOutliers(clocktest.Jittered(20, 0.05), 0.01, 50)}
}

// add puts a clock on the machine.
func (s *simulation) add(name string, c *clocktest.Clock) *subject {
	c.Machine = s.machine
	d := clock.Clock{Name: name, Kind: clock.KindWall, Scope: clock.ScopeMachine, UnitNs: c.UnitNs, CountsSuspend: clock.No}
	switch name {
	case "counter":
		d.Kind = clock.KindCounter
	case "realtime":
		d.Settable, d.CountsSuspend = true, clock.Yes
	case "boottime":
		d.CountsSuspend = clock.Yes
	}
	sub := newSubject(clock.Rated{
		Clock:      clock.New(d, c.Read),
		TickNs:     stats.Estimate{Value: c.UnitNs, Lo: c.UnitNs, Hi: c.UnitNs},
		AccuracyNs: c.QuantumNs,
	})
	s.subjects = append(s.subjects, sub)
	return sub
}

func (s *simulation) run(ctx context.Context) *Report {
	ended := float64(s.plan.Watch)
	return run(ctx, s.subjects, s.plan, bench{
		root: s.files, nowNs: s.machine.NowNs,
		wait: func(_ context.Context, d time.Duration) {
			s.machine.Idle(float64(d) * (1 + 0.1*s.seed().Float64()))
			s.meanwhile(s.machine.NowNs() / ended)
		},
		discipline: func() (discipline, error) { return s.discipline, s.refuses },
		crew:       s.crew(), rng: s.seed(), progress: func(float64, string) {},
	})
}

func (s *simulation) crew() crew {
	if s.cpus < 2 {
		return nil
	}
	return simulatedCrew{s}
}

// simulatedCrew hands readings over on the single timeline of the simulated machine.
type simulatedCrew struct{ *simulation }

func (c simulatedCrew) cpus() []int    { return indices(c.simulation.cpus) }
func (c simulatedCrew) lost() []string { return nil }

func (c simulatedCrew) play(_ context.Context, pairs [][2]int, read func() int64, n int, _ time.Duration) []game {
	var games []game
	for _, pair := range pairs {
		g := game{pair: pair, startNs: c.machine.NowNs()}
		for i := range 2 * n {
			c.machine.CPU = pair[i%2]
			g.handed = append(g.handed, Handed{Thread: i % 2, Ticks: read()})
			c.machine.Idle(c.latencyNs(c.seed()))
		}
		games = append(games, g)
	}
	c.machine.CPU = 0
	return games
}

// faults returns the findings that are not trusted.
func faults(r *Report) (bad []Finding) {
	for _, f := range r.Findings {
		if f.Verdict != stats.Trusted {
			bad = append(bad, f)
		}
	}
	return bad
}

// of returns the finding on question q about the clock, or nil if there is none.
func of(r *Report, clock string, q Question) *Finding {
	for _, f := range r.Findings {
		if f.Clock == clock && f.Check == q {
			return &f
		}
	}
	return nil
}

func texts(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %s %s %v\n", f.Clock, f.Check, f.Verdict, f.Reasons)
	}
	return b.String()
}

// Clocks without faults, of any quantum, cost and jitter, get no fault on machines of several
// CPUs with and without preemption, and the interval of their drift holds the truth.
func TestSoundClocksGetNoFault(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	told, cases := 0, clocktest.Cases(t, 50)
	for seed := range uint64(cases) {
		s := newSimulation(seed)
		rng := s.seed()
		s.cpus = 2 + rng.IntN(5)
		if rng.IntN(2) == 0 {
			s.machine.Preemption = &clocktest.Preemption{EveryNs: 4e6, ForNs: 1e6, Regular: rng.IntN(2) == 0}
		}
		quantum := math.Exp(rng.Float64() * math.Log(4e6))
		c := &clocktest.Clock{
			QuantumNs: quantum, UnitNs: min(quantum, 1), PhaseNs: 1e9 * rng.Float64(),
			Cost:         clocktest.WithOutliers(clocktest.Jittered(10+400*rng.Float64(), 0.2), 0.01, 100),
			EdgeJitterNs: 0.2 * quantum * rng.Float64(),
		}
		name := []string{"counter", "clock", "boottime", "realtime", "monotonic"}[rng.IntN(5)]
		s.add(name, c)
		if name != "monotonic" && rng.IntN(2) == 0 {
			s.add("monotonic", fine())
		}
		r := s.run(t.Context())
		if bad := faults(r); len(bad) > 0 {
			t.Errorf("seed %d, %s of %.4g ns: %s", seed, name, quantum, texts(bad))
		}
		if d := of(r, name, Drift); d != nil {
			told++
			if !d.Estimate.Covers(0) {
				t.Errorf("seed %d, %s of %.4g ns: drift %+v, want one that covers 0", seed, name, quantum, d.Estimate)
			}
		}
		if of(r, name, OrderWithin) == nil || of(r, name, OrderAcross) == nil {
			t.Errorf("seed %d: the order was not judged", seed)
		}
		for _, o := range r.Offsets {
			for j := range o.CPUs {
				for i := range j {
					if e := o.Offset(i, j); !(e.Lo <= 0 && e.Hi >= 0) && quantum < 1e3 && c.EdgeJitterNs < 1 {
						t.Errorf("seed %d: offset %+v, want one that covers 0", seed, e)
					}
				}
			}
		}
	}
	if told < cases/2 {
		t.Errorf("the drift of %d clocks was told, want most of %d", told, cases)
	}
}

// planted is a fault of a clock, with the finding that it must cause.
type planted struct {
	name    string
	clock   string
	spoil   func(s *simulation, c *clocktest.Clock) (size float64) // in the unit of the answer
	check   Question
	verdict stats.Verdict
	says    string
	// ppm reports that the size is that of the estimate; otherwise it is WorstNs.
	ppm bool
	// within is the relative tolerance of the size; 0 means 0.05.
	within float64
}

var plantedFaults = []planted{
	{name: "offset of 200 ns on one CPU", clock: "counter", check: CPUOffset, verdict: stats.Suspect, says: "ahead of CPU",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.cpus = 2 + s.seed().IntN(5)
			c.Faults.CPUOffsetNs = make([]float64, s.cpus)
			c.Faults.CPUOffsetNs[s.cpus-1] = 200
			return 200
		}},
	{name: "CPU 0 lags", clock: "counter", check: CPUOffset, verdict: stats.Suspect, says: "CPU 0 is ",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.cpus = 3 + s.seed().IntN(5)
			c.Faults.CPUOffsetNs = []float64{-5000}
			return 5000
		}},
	{name: "warp between CPUs", clock: "clock", check: OrderAcross, verdict: stats.Unusable, says: "step back",
		within: 0.3, // the time of the hand-over hides part of the step
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			c.Faults.CPUOffsetNs = []float64{0, -1000}
			return 1000
		}},
	{name: "skew of a CPU", clock: "counter", check: CPUSkew, verdict: stats.Suspect, says: "faster than CPU", ppm: true,
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.cpus = 3
			c.Faults.CPUSkewPPM = []float64{0, 0, 40}
			return 40
		}},
	{name: "80 ppm fast", clock: "counter", check: Drift, verdict: stats.Suspect, says: "faster", ppm: true,
		spoil: func(_ *simulation, c *clocktest.Clock) float64 { c.Faults.RatePPM = 80; return 80 }},
	{name: "2 % slow", clock: "counter", check: Drift, verdict: stats.Suspect, says: "slower", ppm: true,
		spoil: func(_ *simulation, c *clocktest.Clock) float64 { c.Faults.RatePPM = -20000; return -20000 }},
	{name: "120 ppm that no slewing explains", clock: "monotonic", check: Drift, verdict: stats.Suspect, says: "faster", ppm: true,
		spoil: func(_ *simulation, c *clocktest.Clock) float64 { c.Faults.RatePPM = 120; return 120 }},
	{name: "2000 ppm, more than slewing explains", clock: "monotonic", check: Drift, verdict: stats.Suspect, says: "faster", ppm: true,
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.discipline = discipline{following: true, ratePPM: 3}
			c.Faults.RatePPM = 2000
			return 2000
		}},
	{name: "one jump", clock: "counter", check: Stepped, verdict: stats.Unusable, says: "it jumped forth",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			c.Faults.JumpAtNs, c.Faults.JumpNs = 2e8+4e8*s.seed().Float64(), 2000+1e6*s.seed().Float64()
			return c.Faults.JumpNs
		}},
	{name: "one jump back", clock: "counter", check: Stepped, verdict: stats.Unusable, says: "it jumped back",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			c.Faults.JumpAtNs, c.Faults.JumpNs = 2e8+4e8*s.seed().Float64(), -5000
			return 5000
		}},
	{name: "one jump of a clock that is 80 ppm fast", clock: "counter", check: Drift, verdict: stats.Suspect, says: "faster", ppm: true,
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			c.Faults.RatePPM, c.Faults.JumpAtNs, c.Faults.JumpNs = 80, 2e8, 1e6
			return 80
		}},
	{name: "realtime set back", clock: "realtime", check: Stepped, verdict: stats.Unusable, says: "it was set back",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.add("monotonic", fine())
			c.Faults.JumpAtNs, c.Faults.JumpNs = 3e8, -2e4
			return 2e4
		}},
	{name: "a leap second", clock: "realtime", check: Stepped, verdict: stats.Unusable, says: "a leap second",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.discipline.leapPending = true
			c.Faults.JumpAtNs, c.Faults.JumpNs = 3e8, -1e9
			return 1e9
		}},
	{name: "suspended", clock: "boottime", check: Suspended, verdict: stats.Suspect, says: "suspended for",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.add("monotonic", fine())
			c.Faults.JumpAtNs, c.Faults.JumpNs = 4e8, 3e9
			return 3e9
		}},
	{name: "set while it is slewed", clock: "realtime", check: Stepped, verdict: stats.Unusable, says: "it was set forth",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.discipline.following = true
			monotonic := fine()
			monotonic.Faults.RatePPM, c.Faults.RatePPM = 400, 400
			s.add("monotonic", monotonic)
			c.Faults.JumpAtNs, c.Faults.JumpNs = 4e8, 1e5
			return 1e5
		}},
	{name: "back steps", clock: "counter", check: OrderWithin, verdict: stats.Unusable, says: "of one thread step back",
		spoil: func(_ *simulation, c *clocktest.Clock) float64 {
			c.Faults.BackStepEvery, c.Faults.BackStepNs = 500, 700
			return 700
		}},
	{name: "stuck for a while", clock: "counter", check: Stuck, verdict: stats.Unusable, says: "it stood still", within: 0.2,
		spoil: func(_ *simulation, c *clocktest.Clock) float64 {
			c.Faults.StuckFromNs, c.Faults.StuckToNs = 3e8, 5e8
			return 2e8
		}},
	{name: "constant", clock: "counter", check: Stuck, verdict: stats.Unusable, says: "it stood still", within: 0.1,
		spoil: func(_ *simulation, c *clocktest.Clock) float64 {
			c.Faults.StuckFromNs, c.Faults.StuckToNs = -1, math.Inf(1)
			return 8e8
		}},
	{name: "the rate changes", clock: "counter", check: RateChange, verdict: stats.Unusable, says: "rate changed", within: math.Inf(1),
		spoil: func(_ *simulation, c *clocktest.Clock) float64 { c.Faults.DriftPPMPerSecond = 500; return 0 }},
	{name: "the rate changes by little", clock: "counter", check: RateChange, verdict: stats.Unusable, says: "rate changed", within: math.Inf(1),
		spoil: func(_ *simulation, c *clocktest.Clock) float64 { c.Faults.DriftPPMPerSecond = 50; return 0 }},
	{name: "it jumps all the time", clock: "counter", check: RateChange, verdict: stats.Unusable, says: "rate changed", within: math.Inf(1),
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.meanwhile = func(share float64) {
				if int(10*share)%2 == 1 {
					c.PhaseNs += 1e6
				}
			}
			return 0
		}},
	{name: "wrap at 24 bits", clock: "counter", check: Wrap, verdict: stats.Suspect, says: "has 24 bits",
		spoil: func(_ *simulation, c *clocktest.Clock) float64 { c.Faults.WrapBits = 24; return 1 << 24 }},
	{name: "wrap at 32 bits", clock: "counter", check: Wrap, verdict: stats.Suspect, says: "has 32 bits",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			c.PhaseNs = 1<<32 - 1e8 - 5e8*s.seed().Float64()
			c.Faults.WrapBits = 32
			return 1 << 32
		}},
	{name: "wrap at 48 bits", clock: "counter", check: Wrap, verdict: stats.Suspect, says: "has 48 bits",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			c.PhaseNs = 1<<48 - 1e8 - 5e8*s.seed().Float64()
			c.Faults.WrapBits = 48
			return 1 << 48
		}},
	{name: "a wrap that is to come", clock: "counter", check: Wrap, verdict: stats.Suspect, says: "will start over in",
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.subjects[1].bits = 32
			c.PhaseNs = 1e8
			return 1 << 32
		}},
	{name: "the clocksource changes", clock: "monotonic-raw", check: Clocksource, verdict: stats.Suspect, says: "from tsc to hpet", within: math.Inf(1),
		spoil: func(s *simulation, c *clocktest.Clock) float64 {
			s.meanwhile = func(share float64) {
				if share > 0.5 {
					s.files[clocksourceFile] = &fstest.MapFile{Data: []byte("hpet\n")}
				}
			}
			return 0
		}},
}

// consequences lists the further questions that a fault may also fail: a clock that is offset
// between CPUs also seems to step back between them.
var consequences = map[Question][]Question{
	CPUOffset:   {OrderAcross},
	OrderAcross: {CPUOffset},
	CPUSkew:     {OrderAcross, CPUOffset},
	Drift:       {Stepped},
	Stepped:     {OrderWithin, OrderAcross},
	OrderWithin: {OrderAcross, CPUOffset, Drift, RateChange},
	RateChange:  {Drift, Stepped},
}

// Each planted fault is found with its size, within 5 % or half the shortest round trip between
// CPUs, and no other clock is reported.
func TestPlantedFaults(t *testing.T) {
	for _, p := range plantedFaults {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(clocktest.Cases(t, 20)) {
				s := newSimulation(seed)
				c := fine()
				s.add(p.clock, c)
				size := p.spoil(s, c)
				r := s.run(t.Context())
				f := of(r, p.clock, p.check)
				if f == nil || f.Verdict != p.verdict || !strings.Contains(strings.Join(f.Reasons, "; "), p.says) {
					t.Fatalf("seed %d: %+v among %s %v; want %s that says %q", seed, f, texts(r.Findings), r.Caveats(), p.verdict, p.says)
				}
				if got, tolerance := p.size(f), p.tolerance(size, r); !(math.Abs(got-size) <= tolerance) {
					t.Fatalf("seed %d: size %v, want %v ± %v", seed, got, size, tolerance)
				}
				for _, other := range faults(r) {
					if other.Clock != p.clock || other.Check != p.check && !slices.Contains(consequences[p.check], other.Check) {
						t.Fatalf("seed %d: also blamed: %s", seed, texts([]Finding{other}))
					}
				}
			}
		})
	}
}

func (p planted) size(f *Finding) float64 {
	switch {
	case math.IsInf(p.within, 1):
		return 0
	case p.ppm:
		return f.Estimate.Value
	}
	return f.WorstNs.Value()
}

func (p planted) tolerance(size float64, r *Report) float64 {
	tolerance := 0.05 * math.Abs(size)
	if p.within > 0 && size != 0 {
		tolerance = p.within * math.Abs(size)
	}
	if len(r.Offsets) > 0 && !p.ppm {
		tolerance = math.Max(tolerance, r.Offsets[0].RoundTripNs/2)
	}
	return tolerance
}

// What the kernel does to its clocks on purpose is no fault: the question does not apply.
func TestSlewingIsNoFault(t *testing.T) {
	for name, c := range map[string]struct {
		ppm        float64
		discipline discipline
		refuses    error
		says       string
	}{
		"rate set":   {120, discipline{ratePPM: 120}, nil, "told to let its clocks run +120 ppm faster"},
		"rate lower": {-90, discipline{ratePPM: -90}, nil, "told to let its clocks run -90 ppm faster"},
		"daemon":     {400, discipline{following: true}, nil, "PLL"},
		"offset":     {-500, discipline{offsetNs: -3e6}, nil, "make up for 3.000 ms"},
		"not known":  {-500, discipline{}, fs.ErrPermission, "permission denied"},
	} {
		for seed := range uint64(clocktest.Cases(t, 20)) {
			s := newSimulation(seed)
			s.discipline, s.refuses = c.discipline, c.refuses
			slewed, counter := fine(), fine()
			slewed.Faults.RatePPM = c.ppm
			s.add("monotonic", slewed)
			s.add("counter", counter)
			r := s.run(t.Context())
			if bad := faults(r); len(bad) > 0 {
				t.Fatalf("%s, seed %d: %s", name, seed, texts(bad))
			}
			i := slices.IndexFunc(r.Skipped, func(k Skipped) bool { return k.Check == Drift && slices.Contains(k.Clocks, "monotonic") })
			if i < 0 || !strings.Contains(r.Skipped[i].Reason, c.says) || !strings.Contains(r.Skipped[i].Reason, "not applicable") {
				t.Errorf("%s, seed %d: %v, want a drift that is not applicable, and %q", name, seed, r.Caveats(), c.says)
			}
			if of(r, "counter", Drift) == nil {
				t.Errorf("%s, seed %d: the counter, which nobody slews, was not judged", name, seed)
			}
		}
	}
}

// If a kernel updates a coarse clock late, because its CPU was taken, that is no fault of the
// clock.
func TestLateUpdatesAreNoFault(t *testing.T) {
	for seed := range uint64(clocktest.Cases(t, 20)) {
		s := newSimulation(seed)
		c := fine()
		c.QuantumNs = 4e6
		c.Faults.StuckFromNs = 1e8 + 4e8*s.seed().Float64()
		c.Faults.StuckToNs = c.Faults.StuckFromNs + 4e7
		s.add("monotonic", c)
		if bad := faults(s.run(t.Context())); len(bad) > 0 {
			t.Errorf("seed %d: %s", seed, texts(bad))
		}
	}
}

// A slewing rate that changes in the middle of the watch is no jump.
func TestSlewingIsNoJump(t *testing.T) {
	for seed := range uint64(clocktest.Cases(t, 20)) {
		s := newSimulation(seed)
		s.discipline.following = true
		c := fine()
		s.add("monotonic", c)
		s.meanwhile = func(share float64) {
			if share > 0.5 && c.Faults.RatePPM == 0 {
				now := s.machine.NowNs()
				c.Faults.RatePPM, c.PhaseNs = 500, c.PhaseNs-500e-6*now
			}
		}
		if bad := faults(s.run(t.Context())); len(bad) > 0 {
			t.Errorf("seed %d: %s", seed, texts(bad))
		}
	}
}

// A reading that the processor takes too early seems to step back from CPU to CPU. The report
// notes it, and the clock stays trusted.
func TestReorderingIsNoWarp(t *testing.T) {
	noted := 0
	cases := clocktest.Cases(t, 20)
	for seed := range uint64(cases) {
		s := newSimulation(seed)
		c := fine()
		s.add("counter", c).bare = func() int64 { return c.ReadEarly(400) }
		r := s.run(t.Context())
		if bad := faults(r); len(bad) > 0 {
			t.Errorf("seed %d: %s", seed, texts(bad))
		}
		if f := of(r, "counter", OrderAcross); f != nil && strings.Contains(strings.Join(f.Notes, ""), "without a fence") {
			noted++
		}
	}
	if noted != cases {
		t.Errorf("noted for %d of %d", noted, cases)
	}
}

// On machines of 2 to 256 CPUs, every pair gets an interval within the given time, each interval
// holds the truth, and the CPUs that are off are named.
func TestOffsetsOfManyCPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, cpus := range []int{2, 3, 5, 16, 17, 64, 256} {
		for seed := range uint64(clocktest.Cases(t, max(1, min(10, 250/(cpus*cpus))))) {
			s := newSimulation(seed)
			s.cpus = cpus
			s.plan.HandOvers = time.Duration(min(cpus, 64)) * 4 * time.Millisecond
			c := fine()
			c.Faults.CPUOffsetNs, c.Faults.CPUSkewPPM = make([]float64, cpus), make([]float64, cpus)
			for i := range cpus {
				if s.seed().IntN(4) == 0 {
					c.Faults.CPUOffsetNs[i] = 1e4 * s.seed().NormFloat64()
					c.Faults.CPUSkewPPM[i] = 20 * s.seed().NormFloat64()
				}
			}
			s.add("counter", c)
			s.checkOffsets(t, c, seed)
		}
	}
}

func (s *simulation) checkOffsets(t *testing.T, c *clocktest.Clock, seed uint64) {
	t.Helper()
	r := s.run(t.Context())
	if len(r.Offsets) != 1 || r.Offsets[0].Contradictory {
		t.Fatalf("%d CPUs, seed %d: %d offsets", s.cpus, seed, len(r.Offsets))
	}
	o := r.Offsets[0]
	first, last := span(s.subjects[1].across.pairs)
	at := (first + last) / 2
	for j := range s.cpus {
		for i := range j {
			skew := c.Faults.CPUSkewPPM[j] - c.Faults.CPUSkewPPM[i]
			offset := c.Faults.CPUOffsetNs[j] - c.Faults.CPUOffsetNs[i] + skew*1e-6*at
			if e := o.Offset(i, j); !e.Covers(offset) {
				t.Fatalf("%d CPUs, seed %d: offset of %d from %d is %v in [%v, %v]", s.cpus, seed, j, i, offset, e.Lo, e.Hi)
			}
			if e := o.Skew(i, j); !e.Covers(skew) {
				t.Fatalf("%d CPUs, seed %d: skew of %d against %d is %v in [%v, %v]", s.cpus, seed, j, i, skew, e.Lo, e.Hi)
			}
		}
	}
	if w := widest(o, o.Offset); w > 1500 {
		t.Errorf("%d CPUs, seed %d: widest interval ± %v ns, %d of %d pairs direct", s.cpus, seed, w, o.Direct, o.Pairs)
	}
	if s.cpus > 100 {
		t.Logf("%d CPUs: %d of %d pairs direct, widest ± %.0f ns", s.cpus, o.Direct, o.Pairs, widest(o, o.Offset))
	}
}

// A CPU whose offset jumps gets no value for its offset.
func TestOffsetThatJumps(t *testing.T) {
	for seed := range uint64(clocktest.Cases(t, 20)) {
		s := newSimulation(seed)
		s.cpus = 3
		c := fine()
		c.Faults.CPUOffsetNs = []float64{0, 0, 0}
		s.meanwhile = func(share float64) {
			if share > 0.3 && share < 0.6 {
				c.Faults.CPUOffsetNs[1] = 3000
			} else {
				c.Faults.CPUOffsetNs[1] = 0
			}
		}
		s.add("counter", c)
		r := s.run(t.Context())
		if f := of(r, "counter", CPUOffset); f == nil || f.Verdict != stats.Unusable || !strings.Contains(f.Reasons[0], "no constant offsets") {
			t.Errorf("seed %d: %+v", seed, f)
		}
	}
}

// With one CPU, the report states that the checks that need two were left out.
func TestOneCPU(t *testing.T) {
	s := newSimulation(1)
	s.cpus = 1
	s.add("counter", fine())
	r := s.run(t.Context())
	if len(faults(r)) > 0 || of(r, "counter", OrderAcross) != nil || of(r, "counter", CPUOffset) != nil {
		t.Errorf("%s", texts(r.Findings))
	}
	if all := strings.Join(r.Caveats(), "\n"); !strings.Contains(all, "one CPU only") {
		t.Errorf("caveats %q", all)
	}
}

// If they are interrupted, the checks judge what was gathered so far.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newSimulation(1)
	c := fine()
	c.Faults.GlitchShare, c.Faults.GlitchNs = 0.01, 5000
	s.add("counter", c)
	s.meanwhile = func(share float64) {
		if share > 0.3 {
			cancel()
		}
	}
	r := s.run(ctx)
	if f := of(r, "counter", OrderWithin); f == nil || f.Verdict != stats.Unusable || s.machine.NowNs() > 0.5*float64(s.plan.Watch) {
		t.Errorf("after %v ns: %+v", s.machine.NowNs(), f)
	}
}

// A time in which the watching thread did not run is noted.
func TestPauseIsNoted(t *testing.T) {
	for seed := range uint64(clocktest.Cases(t, 20)) {
		s := newSimulation(seed)
		s.add("counter", fine())
		paused := false
		s.meanwhile = func(share float64) {
			if share > 0.5 && !paused {
				paused = true
				s.machine.Idle(3e9)
			}
		}
		r := s.run(t.Context())
		if f := of(r, "monotonic-raw", Pause); f == nil || len(f.Notes) != 1 || math.Abs(f.WorstNs.Value()-3e9) > 0.05*3e9 {
			t.Errorf("seed %d: %+v", seed, f)
		}
		if bad := faults(r); len(bad) > 0 {
			t.Errorf("seed %d: %s", seed, texts(bad))
		}
	}
}
