package activity

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// Comb is a regular source of gaps: a timer that takes the CPU at a fixed phase
// of a fixed period.
type Comb struct {
	Period stats.Estimate `json:"-"`
	// PeriodNs is the value of Period, and Count the number of Gaps.
	PeriodNs float64 `json:"period_ns"`
	// PhaseNs is when the first tooth comes, after the trace began.
	PhaseNs float64 `json:"phase_ns"`
	// Gaps are the indices of the gaps that begin at a tooth.
	Gaps  []int `json:"-"`
	Count int   `json:"count"`
	// Expected is how many teeth fell into the active time of the trace, and
	// Hidden how many fell into gaps that had begun before.
	Expected int `json:"-"`
	Hidden   int `json:"-"`
	Costs
	Source Cause `json:"source"` // TimerTick, Hypervisor or Interrupt
	// Attributed is the number of gaps with this source as their cause; the kernel knows another
	// cause of the others. Nil in older documents.
	Attributed *int `json:"attributed"`

	// fromNs and toNs bound when its gaps begin, after their teeth, and
	// othersPerNs is how many other gaps begin in a nanosecond.
	fromNs, toNs, othersPerNs float64
}

// Costs are the times lost by teeth that stood alone. Compensation may subtract the least (Bryant
// 2003, section 9.4.3). The greatest may include something rare that happened just then. They are
// missing if no tooth stood alone.
type Costs struct {
	MinNs    stats.Float `json:"min_cost_ns"`
	MedianNs stats.Float `json:"median_cost_ns"`
	MaxNs    stats.Float `json:"max_cost_ns"`
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
	// fewestEvents show a comb in a spectrum, and fewestTeeth are one at all.
	fewestEvents, fewestTeeth = 16, 4
	// summitsTried in each spectrum.
	summitsTried = 8
)

// combs finds the combs among the gaps of the trace: at the hinted periods (in
// nanoseconds), and wherever a spectrum of the gaps' times has a summit.
//
// The teeth of a timer take longer than most of what else befalls a thread, so
// that they are looked for among the longest gaps first, where they are not lost
// among others, and then among ever more. Each comb takes its gaps away before
// the next is looked for.
func (t *Trace) combs(hints []float64) []Comb {
	s := newCombSearch(t, hints)
	for _, r := range s.subsets() {
		s.searchAmong(r)
	}
	s.share()
	for i := range s.found {
		s.price(&s.found[i])
	}
	return s.found
}

// combSearch is one search for the combs of a trace.
type combSearch struct {
	trace  *Trace
	hints  []float64 // periods in ns
	seenNs float64   // how much of the trace the gaps tell of
	freeNs float64   // how much of that the thread was active
	taken  []bool    // gaps that belong to a comb already
	found  []Comb

	room  arrivals // memory for the subset that is looked at
	views views    // and for what lies near its windows
}

func newCombSearch(t *Trace, hints []float64) *combSearch {
	s := &combSearch{trace: t, hints: hints, seenNs: t.Ns(t.seen()), taken: make([]bool, len(t.Gaps))}
	s.freeNs = s.seenNs
	for _, g := range t.Gaps {
		s.freeNs -= t.Ns(g.Ticks)
	}
	most := min(len(t.Gaps), subsetSizes[len(subsetSizes)-1])
	s.room = make(arrivals, 0, most)
	return s
}

// searchAmong looks for combs in a subset: first in spectra of the whole trace,
// which show slow combs, then of ever shorter stretches, whose bins resolve fast
// ones.
func (s *combSearch) searchAmong(r subset) {
	const shortest = fastestCombNs / 8 * stats.SpectrumBins
	c := s.arrivals(r)
	for extent := s.seenNs; ; extent = math.Max(extent/8, shortest) {
		for len(s.found) < mostCombs && s.tryStretch(c, extent) {
			c = s.arrivals(r)
		}
		if extent <= shortest {
			return
		}
	}
}

// tryStretch looks for a comb in the spectrum of the first stretch of a subset:
// where a hint says, then at the lowest high summits.
func (s *combSearch) tryStretch(c arrivals, extent float64) bool {
	if len(c) < fewestTeeth {
		return false
	}
	spec := stats.Transform(c, c[0], extent, 1)
	for _, hint := range s.hints {
		top := spec.Highest(1/hint, hintReach/hint)
		if top.Height > 0 && !s.has(hint) && s.tryFrequency(c, top.F, extent, hintReach) {
			return true
		}
	}
	tops, height := spec.Summits(1/slowestCombNs, summitsTried)
	if len(c) < fewestEvents || height < 1.2*spec.Chance() {
		return false
	}
	for _, top := range tops {
		if s.tryFrequency(c, top.F, extent, 1) {
			return true
		}
	}
	return false
}

// has reports that a comb of about that period has been found.
func (s *combSearch) has(periodNs float64) bool {
	return slices.ContainsFunc(s.found, func(c Comb) bool { return math.Abs(c.Period.Value/periodNs-1) < hintReach })
}

// tryFrequency keeps the comb of a frequency that a stretch of the subset showed
// if its teeth stand out from the others, and enough of them are among all gaps.
// The period is known to within reach, a share of it: the wider, the more
// evidence it takes.
func (s *combSearch) tryFrequency(c arrivals, f, extent, reach float64) bool {
	f = stats.Follow(c, f, extent)
	if !(f > 0) {
		return false
	}
	w, ok := s.settle(c, 1/f, reach)
	if !ok {
		return false
	}
	comb := Comb{PhaseNs: w.fromNs, toNs: w.widthNs}
	comb.Period.Value = w.periodNs
	for range 2 { // the second time by what the first one found
		if !s.fit(&comb) {
			return false
		}
	}
	for s.slower(&comb) {
		if reach < 1 || comb.Period.Value > slowestCombNs || !s.fit(&comb) {
			return false // not what was looked for, or nothing at all
		}
	}
	if !s.present(&comb) {
		return false
	}
	for _, i := range comb.Gaps {
		s.taken[i] = true
	}
	s.found = append(s.found, comb)
	return true
}
