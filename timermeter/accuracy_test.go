package timermeter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// trial is one simulated clock with its measured accuracy.
type trial struct {
	description string
	truth       float64 // units
	accuracy    Accuracy
	costQuanta  float64 // invocation cost in quanta
	quantumNs   float64
}

// measure finds the accuracy of a simulated clock with the default plan.
func measure(c *clocktest.Clock, seed uint64) Accuracy {
	rng := rand.New(rand.NewPCG(seed, 2))
	s := NewSampler(Subject{UnitNs: c.UnitNs, Chain: c.Chain}, c.Machine.NowNs, DefaultPlan.Patience, rng)
	s.Sample(background)
	return s.Accuracy()
}

// randomClock draws a clock from the ranges that the issue and the design require: a quantum of
// 1 ns to 16 ms, at least two units, whole or not; a cost of 5 ns to 30 µs; jitter of the cost and
// of the counter's updates; and 1 % of calls that cost up to a hundred times as much.
func randomClock(seed uint64) (*clocktest.Clock, trial) {
	rng := rand.New(rand.NewPCG(seed, 1))
	logUniform := func(lo, hi float64) float64 { return lo * math.Exp(rng.Float64()*math.Log(hi/lo)) }
	m := clocktest.NewMachine(seed)
	quantum, cost := logUniform(1, 16e6), logUniform(5, 30e3)
	units := logUniform(2, 1e6)
	if rng.IntN(2) == 0 {
		units = math.Round(units)
	}
	sigma := []float64{0, 0.01, 0.05, 0.2}[rng.IntN(4)]
	c := &clocktest.Clock{
		Machine: m, QuantumNs: quantum, UnitNs: quantum / units, PhaseNs: rng.Float64() * quantum,
		Cost: clocktest.WithOutliers(clocktest.Jittered(cost, sigma), 0.01, 100),
	}
	if rng.IntN(2) == 0 {
		c.EdgeJitterNs = 0.1 * quantum
	}
	return c, trial{
		description: fmt.Sprintf("seed %d: quantum %.5g ns = %.6g units, cost %.3g ns (sigma %g), edge jitter %.2g ns", seed, quantum, units, cost, sigma, c.EdgeJitterNs),
		truth:       units, costQuanta: cost / quantum, quantumNs: quantum,
	}
}

// wronglyTrusted reports whether the result is trusted although it is off by more than 5 % and by
// more than three half-widths (the design's definition).
func (t trial) wronglyTrusted() bool {
	off := math.Abs(t.accuracy.Units.Value - t.truth)
	return t.accuracy.Verdict == stats.Trusted && off > 0.05*t.truth && off > 3*t.accuracy.Units.HalfWidth()
}

// tally counts the trials of one stratum.
type tally struct {
	n, close, usable, covered int
	widths                    []float64
}

func (c *tally) add(t trial) {
	c.n++
	if t.accuracy.Verdict == stats.Unusable {
		return
	}
	c.usable++
	if math.Abs(t.accuracy.Units.Value/t.truth-1) < 0.01 {
		c.close++
	}
	if t.accuracy.Units.Covers(t.truth) {
		c.covered++
	}
	c.widths = append(c.widths, t.accuracy.Units.RelativeHalfWidth())
}

// Of two thousand clocks, 99 in 100 are measured to within 1 %, the intervals cover the truth in
// every stratum, and none is wrongly trusted.
func TestAccuracyOfRandomClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	n := clocktest.Cases(t, 500)
	trials := make([]trial, n)
	parallel(n, func(i int) {
		c, tr := randomClock(uint64(i))
		tr.accuracy = measure(c, uint64(i))
		trials[i] = tr
	})
	strata := map[string]*tally{}
	for _, tr := range trials {
		for _, stratum := range []string{"all", costStratum(tr), quantumStratum(tr), wholeStratum(tr)} {
			if strata[stratum] == nil {
				strata[stratum] = &tally{}
			}
			strata[stratum].add(tr)
		}
		if tr.wronglyTrusted() {
			t.Errorf("wrongly trusted: %s: %+v", tr.description, tr.accuracy)
		}
	}
	for name, c := range strata {
		slices.Sort(c.widths)
		t.Logf("%-26s %4d clocks: %4d usable, %4d within 1 %%, %4d covered, median half-width %.2g",
			name, c.n, c.usable, c.close, c.covered, stats.Quantile(c.widths, 0.5))
		if float64(c.close) < 0.99*float64(c.n) {
			t.Errorf("%s: %d of %d within 1 %%, want 99 %%", name, c.close, c.n)
		}
		if want := clocktest.FewestCovered(c.usable); c.covered < want {
			t.Errorf("%s: %d of %d intervals cover the truth, want %d", name, c.covered, c.usable, want)
		}
		if stats.Quantile(c.widths, 0.5) > 0.001 {
			t.Errorf("%s: the median half-width is %.3g of the value: an interval that says little", name, stats.Quantile(c.widths, 0.5))
		}
	}
}

func costStratum(t trial) string {
	switch {
	case t.costQuanta < 0.1:
		return "cost far below quantum"
	case t.costQuanta < 10:
		return "cost about a quantum"
	}
	return "cost far above quantum"
}

func quantumStratum(t trial) string {
	switch {
	case t.quantumNs < 1e3:
		return "quantum of nanoseconds"
	case t.quantumNs < 1e6:
		return "quantum of microseconds"
	}
	return "quantum of milliseconds"
}

func wholeStratum(t trial) string {
	if t.truth == math.Round(t.truth) {
		return "whole quantum"
	}
	return "fractional quantum"
}

// Preemption, and occasional readings that are off, don't change the measured quantum.
func TestAccuracyUnderDisturbance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	disturb := map[string]func(*clocktest.Clock){
		"preempted three quarters of the time": func(c *clocktest.Clock) {
			c.Machine.Preemption = &clocktest.Preemption{EveryNs: 1e6, ForNs: 3e6}
		},
		"1 % of the values off by half a quantum": func(c *clocktest.Clock) {
			c.Faults.GlitchShare, c.Faults.GlitchNs = 0.01, c.QuantumNs/2
		},
	}
	for name, apply := range disturb {
		t.Run(name, func(t *testing.T) {
			n := clocktest.Cases(t, 100)
			trials := make([]trial, n)
			parallel(n, func(i int) {
				c, tr := randomClock(uint64(i) + 1e6)
				apply(c)
				tr.accuracy = measure(c, uint64(i))
				trials[i] = tr
			})
			var all tally
			for _, tr := range trials {
				if tr.wronglyTrusted() {
					t.Errorf("wrongly trusted: %s: %+v", tr.description, tr.accuracy)
				}
				all.add(tr)
			}
			t.Logf("%d clocks, %d usable, %d within 1 %%, %d covered", all.n, all.usable, all.close, all.covered)
			if float64(all.close) < 0.95*float64(all.usable) || float64(all.covered) < 0.91*float64(all.usable) {
				t.Errorf("of %d usable: %d within 1 %%, want 95 %%; %d covered, want 91 %%", all.usable, all.close, all.covered)
			}
		})
	}
}

// The quanta of real clocks are found, even if they are no whole number of units.
func TestAccuracyOfKnownQuanta(t *testing.T) {
	for _, c := range []struct {
		name          string
		quantum, unit float64 // ns
		cost          float64 // ns
		within        float64 // relative
	}{
		{"24 MHz counter in ns (Apple)", 1e9 / 24e6, 1, 20, 1e-4},
		{"3.579545 MHz ACPI timer in ns", 1e9 / 3579545, 1, 1876, 1e-4},
		{"62.5 MHz counter in ns", 16, 1, 30, 1e-4},
		{"100 ns clock in ns (Windows)", 100, 1, 25, 1e-4},
		{"HZ=250 tick in ns", 4e6, 1, 5, 1e-6},
		{"15.625 ms tick in 100 ns (Windows)", 15.625e6, 100, 10, 1e-4},
		{"TSC that moves by 26", 10.0149, 10.0149 / 26, 9, 1e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := clocktest.NewMachine(7)
			sim := &clocktest.Clock{
				Machine: m, QuantumNs: c.quantum, UnitNs: c.unit, PhaseNs: 0.3 * c.quantum,
				Cost: clocktest.WithOutliers(clocktest.Jittered(c.cost, 0.05), 0.01, 100),
			}
			a := measure(sim, 7)
			truth := c.quantum / c.unit
			if a.Verdict != stats.Trusted || math.Abs(a.Units.Value/truth-1) > c.within || !a.Units.Covers(truth) {
				t.Errorf("got %.9g [%.9g, %.9g] units, %s %v; want %.9g", a.Units.Value, a.Units.Lo, a.Units.Hi, a.Verdict, a.Reasons, truth)
			}
		})
	}
}

// The RDTSC of some processors adds one to a reading that would equal the previous one. A tenth of
// the readings is then off the lattice (seen on a Zen 5 core).
func TestAccuracyOfCounterThatNeverRepeats(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for seed := range uint64(50) {
		m := clocktest.NewMachine(seed)
		c := &clocktest.Clock{
			Machine: m, QuantumNs: 10.0149, UnitNs: 10.0149 / 26, Unique: true,
			Cost: clocktest.WithOutliers(clocktest.Jittered(9, 0.1), 0.01, 100),
		}
		if a := measure(c, seed); a.Verdict != stats.Trusted || math.Abs(a.Units.Value-26) > 0.01 || !a.Units.Covers(26) {
			t.Errorf("seed %d: %.6g [%.6g, %.6g] units, %s %v; want 26", seed, a.Units.Value, a.Units.Lo, a.Units.Hi, a.Verdict, a.Reasons)
		}
	}
}

// If a counter is finer than the unit of its readings, the accuracy is the unit, and the interval
// says how certain that is. A spacing between one and two units can't always be told from its
// mirror; the verdict then says so.
func TestAccuracyNearTheUnit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	n := clocktest.Cases(t, 100)
	trials := make([]trial, n)
	parallel(n, func(i int) {
		c, tr := randomClock(uint64(i) + 2e6)
		tr.truth = 2.3 * rand.New(rand.NewPCG(uint64(i), 3)).Float64()
		c.UnitNs = c.QuantumNs / tr.truth
		tr.truth = math.Max(1, tr.truth)
		tr.accuracy = measure(c, uint64(i))
		trials[i] = tr
	})
	usable, covered, limited := 0, 0, 0
	for _, tr := range trials {
		if tr.wronglyTrusted() {
			t.Errorf("wrongly trusted: %s, %.4g units: %+v", tr.description, tr.truth, tr.accuracy)
		}
		if tr.accuracy.Verdict == stats.Unusable {
			continue
		}
		usable++
		if tr.accuracy.Units.Covers(tr.truth) {
			covered++
		}
		if tr.truth == 1 && tr.accuracy.UnitLimited {
			limited++
		}
	}
	t.Logf("%d clocks, %d usable, %d covered, %d known to be limited by their unit", n, usable, covered, limited)
	if float64(covered) < 0.92*float64(usable) {
		t.Errorf("%d of %d intervals cover the truth", covered, usable)
	}
}

// If a counter is much finer than the unit of its readings, as a time stamp counter shown in
// nanoseconds is, the accuracy is the unit, and it is trusted.
func TestAccuracyOfAFineCounterInCoarseUnits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, c := range []struct {
		name                string
		quantum, unit, cost float64
	}{
		{"nanoseconds over 2.5 GHz", 0.4, 1, 20},
		{"a time stamp counter in its own ticks", 0.4, 0.4, 8},
		{"microseconds over nanoseconds", 1, 1e3, 300},
		{"microseconds, dear", 1, 1e3, 10e3},
	} {
		trusted, n := 0, clocktest.Cases(t, 13)
		for seed := range uint64(n) {
			m := clocktest.NewMachine(seed)
			a := measure(&clocktest.Clock{
				Machine: m, QuantumNs: c.quantum, UnitNs: c.unit, PhaseNs: 0.1,
				Cost: clocktest.WithOutliers(clocktest.Jittered(c.cost, 0.05), 0.01, 100),
			}, seed)
			if a.Verdict == stats.Trusted && a.UnitLimited && a.Units.Value == 1 && a.Units.Hi < 1.5 {
				trusted++
			}
		}
		if trusted < n-max(1, n/25) {
			t.Errorf("%s: one unit and trusted in %d of %d", c.name, trusted, n)
		}
	}
}

// Readings of a spacing of n/m units have only m different remainders after rounding. That tells
// such a spacing from its mirror, or the result is suspect (5/3: a 600 MHz counter in ns).
func TestAccuracyOfRationalQuanta(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, units := range []float64{4.0 / 3, 1.5, 5.0 / 3, 1.7, 1.75, 1.8, 1.9, 2, 2.1, 2.25, 7.0 / 3, 2.5, 3, 3.5} {
		n := clocktest.Cases(t, 10)
		trials := make([]trial, n)
		parallel(n, func(i int) {
			seed := uint64(i) * 40 / uint64(n)
			c, tr := randomClock(seed + 3e6)
			c.QuantumNs, c.EdgeJitterNs = 1+float64(seed*seed)/4, 0
			c.Cost = clocktest.Jittered((5+45*float64(seed)/40)*c.QuantumNs, 0.1)
			c.UnitNs, tr.truth = c.QuantumNs/units, units
			tr.accuracy = measure(c, seed)
			trials[i] = tr
		})
		covered := 0
		for _, tr := range trials {
			if tr.wronglyTrusted() {
				t.Errorf("%.4g units, wrongly trusted: %s: %+v", units, tr.description, tr.accuracy)
			}
			if tr.accuracy.Units.Covers(units) {
				covered++
			}
		}
		if covered < n*9/10 {
			t.Errorf("%.4g units: %d of %d intervals cover the truth", units, covered, n)
		}
	}
}

// Time slices of nearly constant length make the readings of a coarse clock jump regularly. The
// length of the slices is not reported as the clock's quantum.
func TestAccuracyUnderRegularTimeSlices(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	n := clocktest.Cases(t, 60)
	wrong := make([]bool, n)
	parallel(n, func(i int) {
		c, tr := randomClock(uint64(i) + 4e6)
		c.Machine.Preemption = &clocktest.Preemption{EveryNs: 4e6, ForNs: 40e6, Regular: true}
		tr.accuracy = measure(c, uint64(i))
		wrong[i] = tr.wronglyTrusted()
	})
	count := 0
	for _, w := range wrong {
		if w {
			count++
		}
	}
	// If a coarse clock is read in slices that always end at one of its ticks, only every tenth
	// tick may show, and the readings can't tell.
	if count > n/50 {
		t.Errorf("%d of %d are wrongly trusted", count, n)
	}
}

// If the accuracy can't be found, the result says why.
func TestAccuracyThatCannotBeTold(t *testing.T) {
	good := func() *clocktest.Clock {
		return &clocktest.Clock{
			Machine: clocktest.NewMachine(5), QuantumNs: 100, UnitNs: 1,
			Cost: clocktest.Jittered(30, 0.05),
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(*clocktest.Clock)
		want  stats.Verdict
	}{
		{"constant", func(c *clocktest.Clock) { c.Faults.StuckToNs = math.Inf(1); c.Faults.StuckFromNs = -1 }, stats.Unusable},
		{"slower than the patience", func(c *clocktest.Clock) { c.QuantumNs = 3e9 }, stats.Unusable},
		{"a handful of ticks", func(c *clocktest.Clock) { c.QuantumNs, c.UnitNs = 100e6, 100e6 }, stats.Suspect},
		{"steps back", func(c *clocktest.Clock) { c.Faults.BackStepEvery, c.Faults.BackStepNs = 500, 1e4 }, stats.Unusable},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := good()
			c.spoil(clock)
			a := measure(clock, 5)
			if a.Verdict != c.want || len(a.Reasons) == 0 {
				t.Errorf("verdict %s %v, accuracy %+v; want %s with a reason", a.Verdict, a.Reasons, a.Units, c.want)
			}
		})
	}
}

// The accuracy of a clock that shows microseconds but is updated about every four milliseconds
// (Linux's getrusage of a thread) is the milliseconds. This also holds if most updates are
// regular, so that a fraction of their distance fits all of them.
func TestAccuracyOfIrregularUpdates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for name, next := range map[string]func(*rand.Rand) float64{
		"within a tenth of 4 ms": func(r *rand.Rand) float64 { return 4e6 * (0.9 + 0.2*r.Float64()) },
		"a few at random": func(r *rand.Rand) float64 {
			if r.Float64() < 0.06 {
				return 4e6 * r.Float64()
			}
			return 4e6 + 1500*r.Float64()
		},
	} {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(9, seed))
			now, shown, due := 0.0, int64(0), 0.0
			chain := func(work int, ticks []int64) {
				for i := range ticks {
					now += 300 + 0.5*float64(work)
					for ; now >= due; due += next(rng) {
						shown = int64(due / 1e3)
					}
					ticks[i] = shown
				}
			}
			s := NewSampler(Subject{UnitNs: 1e3, Chain: chain}, func() float64 { return now }, DefaultPlan.Patience, rng)
			s.Sample(background)
			a := s.Accuracy()
			if a.Verdict != stats.Suspect || math.Abs(a.Units.Value-4000) > 200 || len(a.Reasons) != 1 {
				t.Errorf("%s, seed %d: %.5g [%.5g, %.5g] units, %s %v; want about 4000, suspect",
					name, seed, a.Units.Value, a.Units.Lo, a.Units.Hi, a.Verdict, a.Reasons)
			}
		}
	}
}

// The interval of updates that all look the same still spans a unit in either direction, because
// both readings of each update were rounded down.
func TestAccuracyOfUpdatesThatLookAlike(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(10, seed))
		var r readings
		shown := int64(0)
		for i := range 200 {
			for range 10 {
				r = append(r, shown)
			}
			if shown += 4000; i%4 == 3 {
				shown += int64(rng.IntN(3000))
			}
		}
		a := accuracyOf(sample{readings: r, stretches: []readings{r}}, 1e3)
		if a.Verdict != stats.Suspect || a.Units.Value != 4000 || a.Units.Lo > 3999 || a.Units.Hi < 4001 {
			t.Errorf("seed %d: %v [%v, %v], %s %v; want 4000, a unit either way", seed, a.Units.Value, a.Units.Lo, a.Units.Hi, a.Verdict, a.Reasons)
		}
	}
}

// The change from one stretch of readings to the next is not an update: a clock of 25 µs that is
// read in bursts of 100 ns, 200 µs apart, repeats itself in each burst and then moves by eight
// steps.
func TestAccuracyOfReadingsInStretches(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(11, seed))
		now := 0.0
		chain := func(work int, ticks []int64) {
			now += 100e3 + 200e3*rng.Float64()
			for i := range ticks {
				now += 7 + float64(i%2)*float64(work)
				ticks[i] = int64(now / 25e3)
			}
		}
		s := NewSampler(Subject{UnitNs: 25e3, Chain: chain, LeastChain: readingsAtOnce}, func() float64 { return now }, DefaultPlan.Patience, rng)
		s.Sample(background)
		if a := s.Accuracy(); a.Verdict != stats.Trusted || a.Units.Value != 1 {
			t.Errorf("seed %d: %v units, %s %v; want 1, trusted", seed, a.Units.Value, a.Verdict, a.Reasons)
		}
	}
}
