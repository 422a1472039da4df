package activity

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// Comb is a regular source of gaps: a timer that takes the CPU at a fixed phase of a fixed period.
// Each of its times is a tooth.
type Comb struct {
	Period stats.Estimate `json:"-"`
	// PeriodNs is the value of Period, and Count the number of Gaps.
	PeriodNs float64 `json:"period_ns"`
	// PhaseNs is the time of the first tooth, since the trace began.
	PhaseNs float64 `json:"phase_ns"`
	// Gaps are the indices of the gaps that begin at a tooth.
	Gaps  []int `json:"-"`
	Count int   `json:"count"`
	// Expected is how many teeth fell into time when the thread was active, and Hidden how many
	// fell into gaps that had begun before.
	Expected int `json:"-"`
	Hidden   int `json:"-"`
	Costs
	Source Cause `json:"source"` // TimerTick, Hypervisor or Interrupt
	// Attributed is the number of the comb's gaps that have Source as their cause; the kernel knows
	// another cause of the others. It is nil in older documents.
	Attributed *int `json:"attributed"`

	// fromNs and toNs bound how long after a tooth its gap begins, and othersPerNs is how many
	// other gaps begin in a nanosecond.
	fromNs, toNs, othersPerNs float64
}

// Costs are the times that a comb's gaps took. Gaps that have another known cause, such as a
// preemption, or that are longer than half a period do not count. Compensation may subtract MinNs
// (Bryant 2003, section 9.4.3). MaxNs may include a rare event that happened at the same time. The
// values are missing if no gap remains.
type Costs struct {
	MinNs    stats.Float `json:"min_cost_ns"`
	MedianNs stats.Float `json:"median_cost_ns"`
	MaxNs    stats.Float `json:"max_cost_ns"`
}

// These are the limits of the search for combs.
const (
	mostCombs = 6
	// slowestCombNs is the longest period that is looked for without a hint, and fastestCombNs the
	// shortest.
	slowestCombNs, fastestCombNs = 25e6, 100e3
	// toothShare is the greatest width of a tooth as a share of the period, and toothNs the
	// greatest width in nanoseconds: a timer interrupt is served within microseconds of its time.
	toothShare, toothNs = 0.02, 20e3
	// presence is the least share of the expected teeth that a comb must have.
	presence = 0.5
	// hintReach is how far a period may be from the hint, as a share of it.
	hintReach = 0.02
	// fewestEvents is how many gaps a search in a spectrum needs, and fewestTeeth how many teeth a
	// comb needs.
	fewestEvents, fewestTeeth = 16, 4
	// summitsTried is how many summits of each spectrum are tried.
	summitsTried = 8
)

// combs finds the combs among the gaps of the trace: at the hinted periods (in nanoseconds), and
// wherever a spectrum of the gaps' times has a summit.
//
// A timer's gaps are longer than most others. So combs are looked for among the longest gaps first,
// where few other gaps hide them, and then in ever larger subsets. The gaps of a comb that was
// found are removed before the next is looked for.
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
	seenNs float64   // length of the part of the trace that its gaps cover
	freeNs float64   // how much of that time the thread was active
	taken  []bool    // whether each gap already belongs to a comb
	found  []Comb

	room  arrivals // memory for the arrivals of the current subset
	views views    // memory for the gaps near the current windows
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

// searchAmong looks for combs in a subset: first in a spectrum of the whole trace, which shows slow
// combs, then in spectra of ever shorter stretches, whose bins are wide enough for fast ones.
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

// tryStretch looks for a comb in the spectrum of the first stretch of a subset: at the hints first,
// then at the summits of lowest frequency.
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

// has reports whether a comb of about that period has been found.
func (s *combSearch) has(periodNs float64) bool {
	return slices.ContainsFunc(s.found, func(c Comb) bool { return math.Abs(c.Period.Value/periodNs-1) < hintReach })
}

// tryFrequency adds the comb of frequency f, which a stretch of the subset showed, if its gaps
// stand out from the others and enough of its teeth have a gap. The period is known to within
// reach, a share of it: a wider reach needs more evidence.
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
	for range 2 { // the second pass refines the result of the first
		if !s.fit(&comb) {
			return false
		}
	}
	for s.slower(&comb) {
		if reach < 1 || comb.Period.Value > slowestCombNs || !s.fit(&comb) {
			return false // the period is not the one asked for, or there is no comb
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
