package activity

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// Comb is a regular source of gaps: a timer that takes the CPU at a fixed phase
// of a fixed period.
type Comb struct {
	PeriodNs stats.Estimate
	// PhaseNs is when the first tooth comes, after the trace began.
	PhaseNs float64
	// Gaps are the indices of the gaps that begin at a tooth.
	Gaps []int
	// Expected is how many teeth fell into the active time of the trace, and
	// Hidden how many fell into gaps that had begun before.
	Expected, Hidden int
	// LeastNs and MedianNs are the cost of a tooth that stood alone: what was
	// lost by it. The least one is what compensation may subtract (Bryant 2003,
	// section 9.4.3).
	LeastNs, MedianNs float64
	Source            Cause // TimerTick or Hypervisor

	lateNs, lateSpreadNs float64 // of the gaps after their teeth: median, and median deviation
}

// Limits of the search for combs.
const (
	mostCombs = 6
	// slowestCombNs is the longest period looked for without a hint, and
	// fastestCombNs the shortest.
	slowestCombNs, fastestCombNs = 25e6, 100e3
	// toothShare is how wide a tooth is, as a share of the period, and toothNs the
	// most that is allowed for it: a served interrupt starts within microseconds
	// of its time.
	toothShare, toothNs = 0.02, 20e3
	// presence is the share of the expected teeth that must be there.
	presence = 0.5
	// hintReach is how far a period may be off the hint.
	hintReach = 0.02
	// mostEvents refine a period.
	mostEvents = 4000
	// settlePoints fix a period well enough for the next step.
	settlePoints = 150
)

// combs finds the combs among gaps of the trace, first at the hinted periods
// (in nanoseconds), then wherever the spectrum of the gaps' times has a summit.
// Each takes its gaps away before the next is looked for, so that no gap is in
// two combs.
func (t *Trace) combs(hints []float64) []Comb {
	s := &combSearch{trace: t, taken: make([]bool, len(t.Gaps))}
	for _, hint := range hints {
		s.tryHint(hint)
	}
	for len(s.found) < mostCombs && s.trySpectrum() {
	}
	for i := range s.found {
		s.priceTeeth(i)
	}
	return s.found
}

// combSearch is one search for the combs of a trace.
type combSearch struct {
	trace *Trace
	taken []bool // gaps that belong to a comb already
	found []Comb
}

// event is a gap that may belong to a comb.
type event struct {
	at  float64 // ns since the trace began
	gap int
}

// events are the gaps that may belong to a comb: as long as an interrupt, none
// of the recording's own, and none that is taken.
func (s *combSearch) events() []event {
	var events []event
	for i, g := range s.trace.Gaps {
		if !g.Own && !s.taken[i] && s.trace.Ns(g.Ticks) >= shortestInterruptNs {
			events = append(events, event{s.trace.Ns(g.Start), i})
		}
	}
	return events
}

func timesOf(events []event) []float64 {
	at := make([]float64, len(events))
	for i, e := range events {
		at[i] = e.at
	}
	return at
}

// tryHint looks for a comb near a period that is known, as a kernel's tick is:
// first very near, as on a clock whose rate is known, then further off.
func (s *combSearch) tryHint(periodNs float64) {
	events := s.events()
	extent := s.trace.Ns(s.trace.Length)
	if len(events) < 4 || !(periodNs > 0) || extent < 2*periodNs {
		return
	}
	at := stats.Thinned(timesOf(events), mostEvents)
	score := func(f float64) float64 { return stats.Amplitude(at, f) }
	for _, reach := range []float64{hintReach / 40, hintReach} {
		f, _ := stats.Climb(score, 1/periodNs, reach/periodNs, extent)
		if s.accept(events, 1/f, reach) {
			return
		}
	}
}

// trySpectrum looks for a comb where a spectrum has its lowest high summit:
// first over the whole trace, for slow combs, then over ever shorter stretches,
// whose bins resolve fast ones.
func (s *combSearch) trySpectrum() bool {
	events := s.events()
	if len(events) < 16 {
		return false
	}
	at := timesOf(events)
	shortest := fastestCombNs / 8 * stats.SpectrumBins
	for extent := s.trace.Ns(s.trace.Length); ; extent = math.Max(extent/8, shortest) {
		if s.tryStretch(events, at, extent) {
			return true
		}
		if extent <= shortest {
			return false
		}
	}
}

// tryStretch looks for a comb in the spectrum of the first stretch of the trace.
func (s *combSearch) tryStretch(events []event, at []float64, extent float64) bool {
	spec := stats.Transform(at, at[0], extent, 1)
	tops, height := spec.Summits(1/slowestCombNs, 8)
	if height < 1.2*spec.Chance() {
		return false
	}
	for _, top := range tops {
		if s.accept(events, 1/s.sharpen(at, top.F, extent), hintReach) {
			return true
		}
	}
	return false
}

// sharpen follows a frequency from one stretch of the trace to ever longer
// ones.
func (s *combSearch) sharpen(at []float64, f, extent float64) float64 {
	total := s.trace.Ns(s.trace.Length)
	reach := 1 / (2 * extent)
	for {
		end, _ := slices.BinarySearch(at, at[0]+extent)
		points := stats.Thinned(at[:end], mostEvents)
		f, _ = stats.Climb(func(f float64) float64 { return stats.Amplitude(points, f) }, f, reach, extent)
		if extent >= total {
			return f
		}
		reach = 1 / (4 * extent)
		extent = math.Min(4*extent, total)
	}
}

// accept keeps the comb of that period if enough of its teeth are there, and
// more than chance would put into them. The period may be off by reach, a share
// of it.
func (s *combSearch) accept(events []event, periodNs, reach float64) bool {
	for _, share := range []float64{0.2, 0.05} {
		periodNs = s.settle(events, periodNs, share*periodNs, reach)
	}
	width := math.Min(toothShare*periodNs, toothNs)
	phase := densestPhase(events, periodNs, width)
	members := inTeeth(events, periodNs, phase, width)
	c := Comb{PhaseNs: phase, Gaps: members}
	s.expect(&c, periodNs)
	chance := float64(len(events)) * width / periodNs
	if len(members) < 4 || float64(len(members)) < presence*float64(c.Expected) || float64(len(members)) < chance+5*math.Sqrt(chance) {
		return false
	}
	s.measure(&c, periodNs)
	for _, i := range members {
		s.taken[i] = true
	}
	s.found = append(s.found, c)
	return true
}

// settle fits the period to the events that lie in wide teeth of it. The
// spectrum knows it well enough to keep within a tenth of a period over the
// whole trace; for teeth of microseconds it must be known far better.
func (s *combSearch) settle(events []event, periodNs, width, reach float64) float64 {
	members := inTeeth(events, periodNs, densestPhase(events, periodNs, width), width)
	members = stats.Thinned(members, settlePoints)
	if line, err := s.line(members, periodNs); err == nil && math.Abs(line.Slope.Value/periodNs-1) < reach {
		return line.Slope.Value
	}
	return periodNs
}

// line fits the times of gaps that lie whole periods apart.
func (s *combSearch) line(gaps []int, periodNs float64) (stats.Line, error) {
	t := s.trace
	var k, at []float64
	for _, i := range gaps {
		start := t.Ns(t.Gaps[i].Start)
		at = append(at, start)
		k = append(k, math.Round((start-at[0])/periodNs))
	}
	if line, err := stats.TheilSen(k, at); err == nil {
		return line, nil
	}
	return stats.LeastSquares(k, at) // too few for the robust line
}

// densestPhase is where the window of that width, folded over the period, that
// holds the most events starts.
func densestPhase(events []event, periodNs, width float64) float64 {
	phases := make([]float64, len(events))
	for i, e := range events {
		phases[i] = math.Mod(e.at, periodNs)
	}
	slices.Sort(phases)
	best, from := 0, 0.0
	for i, j := 0, 0; i < len(phases); i++ {
		for ; j < i+len(phases); j++ { // round the fold
			p := phases[j%len(phases)]
			if j >= len(phases) {
				p += periodNs
			}
			if p-phases[i] > width {
				break
			}
		}
		if j-i > best {
			best, from = j-i, phases[i]
		}
	}
	return from
}

// inTeeth are the gaps that begin within a tooth, one for each: where there are
// more, the first.
func inTeeth(events []event, periodNs, phase, width float64) []int {
	var members []int
	last := math.Inf(-1)
	for _, e := range events {
		k := math.Floor((e.at - phase) / periodNs)
		if e.at-phase-k*periodNs <= width && k > last {
			members = append(members, e.gap)
			last = k
		}
	}
	return members
}

// expect counts the teeth that fell into active time, where they begin a gap,
// and those that fell into a gap that had begun before.
func (s *combSearch) expect(c *Comb, periodNs float64) {
	t := s.trace
	next := 0
	for at := math.Mod(c.PhaseNs, periodNs); at < t.Ns(t.Length); at += periodNs {
		for next < len(t.Gaps) && t.Ns(t.Gaps[next].End()) <= at {
			next++
		}
		if next < len(t.Gaps) && t.Ns(t.Gaps[next].Start) < at-toothNs {
			c.Hidden++
		} else {
			c.Expected++
		}
	}
}

// measure fits period and phase to the comb's gaps and takes their cost.
func (s *combSearch) measure(c *Comb, periodNs float64) {
	c.PeriodNs = stats.Estimate{Value: periodNs, Lo: math.NaN(), Hi: math.NaN(), Statistic: "slope"}
	if line, err := s.line(c.Gaps, periodNs); err == nil {
		c.PeriodNs = line.Slope
		c.PhaseNs = math.Mod(line.Intercept.Value, line.Slope.Value)
	}
	c.PeriodNs.Unit, c.PeriodNs.N = "ns", len(c.Gaps)
	late := make([]float64, len(c.Gaps))
	for n, i := range c.Gaps {
		late[n] = c.late(s.trace.Ns(s.trace.Gaps[i].Start))
	}
	c.lateNs, c.lateSpreadNs = stats.Median(late), math.Max(stats.MAD(late), s.trace.TickNs)
}

// late is how far after its nearest tooth a time is.
func (c *Comb) late(atNs float64) float64 {
	since := atNs - c.PhaseNs
	return since - c.PeriodNs.Value*math.Round(since/c.PeriodNs.Value)
}

// at reports that a time is one at which most of the comb's gaps begin. They
// may well be late, but hardly early.
func (c *Comb) at(atNs float64) bool {
	off := (c.late(atNs) - c.lateNs) / c.lateSpreadNs
	return -4 <= off && off <= 12
}

// priceTeeth takes what the teeth of a comb cost that stood alone: no switch
// lengthened them, and they are neither another source's that fell into the
// tooth by chance nor those of a comb that has a tooth at the same time.
func (s *combSearch) priceTeeth(n int) {
	c := &s.found[n]
	var costs []float64
	for _, i := range c.Gaps {
		g := s.trace.Gaps[i]
		at, cost := s.trace.Ns(g.Start), s.trace.Ns(g.Ticks)
		if c.at(at) && g.Cause == Unexplained && cost < c.PeriodNs.Value/2 && !s.others(n, at) {
			costs = append(costs, cost)
		}
	}
	slices.Sort(costs)
	c.LeastNs, c.MedianNs = stats.Quantile(costs, 0), stats.Quantile(costs, 0.5)
}

// others reports that a comb other than n has a tooth at that time.
func (s *combSearch) others(n int, atNs float64) bool {
	for i := range s.found {
		if i != n && s.found[i].at(atNs) {
			return true
		}
	}
	return false
}
