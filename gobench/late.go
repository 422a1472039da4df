package gobench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"chronoscope/stats"
)

// Limits of the search for a cost that changes after more iterations than were timed.
const (
	// lateNs is the time of the longest late run on a machine of its own: the last run of go test takes a
	// second. The run may take lateShare of a benchmark's MaxTime, or gatedLateShare with a gate, as pairs have
	// little time.
	lateNs, lateShare, gatedLateShare = 1e9, 0.4, 0.1
	// lateRatio is the factor between the iterations of one late run and the next, so that a cost that grows
	// with them is noticed before it takes long.
	lateRatio = 4
	// sureRuns is the number of late runs in a row, with the same number of iterations, that have to show a change,
	// since one run may be disturbed.
	sureRuns = 3
	// strayShare is the share of the repetitions, on either side, that may have been disturbed.
	strayShare = 0.1
)

// runLate runs a benchmark with more and more iterations than its repetitions have. It stops after a run of a
// second, or earlier if the plan leaves less time, or if sureRuns runs show that the added iterations are slower or
// faster than those before. A benchmark that fills or outgrows a cache may show that only then. Where only pairs
// matter there are no late runs.
func (m *measurement) runLate(ctx context.Context, s *Series) error {
	if m.plan.PairsOnly || len(s.late) > 0 {
		return nil
	}
	wallNs, share := s.typical(processNs), lateShare
	if m.plan.Gate != nil {
		share = gatedLateShare
	}
	most := int(math.Min(mostN, math.Min(lateNs/s.typical(dedicatedNs), share*float64(m.plan.MaxTime)/wallNs)))
	for n := s.many; n < most; {
		n = min(most, lateRatio*n)
		for changed := 0; ; {
			if s.spent+time.Duration(wallNs*float64(n)) > 2*m.plan.MaxTime {
				return nil
			}
			o, err := m.run(ctx, s, n, !s.slowedByTracing)
			if err != nil || s.Failure != nil {
				return err
			}
			s.late = append(s.late, o)
			if !changes(Conclude(s, m.plan, m.setting).inPairs().late) {
				break
			}
			if changed++; changed == sureRuns {
				return nil
			}
		}
	}
	return nil
}

// typical returns a figure of the longer run of a repetition, divided by its iterations, in the median.
func (s *Series) typical(of func(Observation) float64) float64 {
	return stats.Median(each(s.Repetitions, func(rep Repetition) float64 { return of(rep.Many) / float64(rep.Many.N) }))
}

// lateCost returns a ratio: the time of an iteration among those by which a late run exceeds the timed
// runs, divided by the time of a timed iteration. Its bounds leave out a tenth of the repetitions on either
// side, and allow for a shared core.
func (c *conclusion) lateCost(late Observation) stats.Estimate {
	e := stats.NoEstimate("ratio", "")
	var low, high []float64
	for _, rep := range c.used {
		timed := c.boundsOn(c.Basis, rep)
		later := c.boundsOn(c.Basis, Repetition{Few: rep.Many, Many: late, Traced: rep.Traced})
		low, high = append(low, later.lo/timed.hi), append(high, later.hi/timed.lo)
	}
	slices.Sort(low)
	slices.Sort(high)
	off := c.sharedFactor()
	e.Lo, e.Hi = stats.Quantile(low, strayShare)/off, stats.Quantile(high, 1-strayShare)*off
	e.Value = (stats.Median(low) + stats.Median(high)) / 2
	return e
}

// changes reports whether a ratio of costs differs from 1 by more than changeShare.
func changes(cost stats.Estimate) bool { return rises(cost) || cost.Hi < 1-changeShare }

// rises reports whether a ratio of costs exceeds 1 by more than changeShare.
func rises(cost stats.Estimate) bool { return cost.Lo > 1+changeShare }

// confirmLate makes one more late run of each benchmark of a group. It comes after other benchmarks and at another time,
// because what disturbed a late run may have disturbed the next ones, too. It has as many iterations as the last late run of
// the group's last benchmark. A benchmark gets no such run if it is much slower than that one, or if its timed runs have as
// many iterations.
func (m *measurement) confirmLate(ctx context.Context, group []*Series) error {
	late := group[len(group)-1].late
	n := late[len(late)-1].N
	for _, s := range group {
		if n <= s.many || s.typical(processNs)*float64(n) > lateAlike*gatedLateShare*float64(m.plan.MaxTime) {
			continue
		}
		o, err := m.run(ctx, s, n, !s.slowedByTracing)
		if err != nil || s.Failure != nil {
			return err
		}
		s.late = append(s.late, o)
	}
	return nil
}

// lateAlike is the largest factor by which the numbers of iterations of two late runs may differ if they are compared.
const lateAlike = 2

// laterRatio returns by what factor the ratio of two benchmarks is larger among the iterations beyond the timed ones. It is 1
// unless the last late run of b shows that the cost rises there, and by more than in a.
func laterRatio(a, b *Result) float64 {
	if !rises(b.late) {
		return 1
	}
	then, known := a.lateLike(b)
	if b.late.Lo <= then.Hi || !known && rises(a.late) { // a's late runs ended earlier for that
		return 1
	}
	return b.late.Value / then.Value
}

// lateLike returns the cost of later iterations by a late run that has about as many iterations as the other benchmark's
// last one. If there is none, known is false and the cost is 1.
func (r *Result) lateLike(other *Result) (cost stats.Estimate, known bool) {
	n := other.lateRuns[len(other.lateRuns)-1].N
	for _, o := range slices.Backward(r.lateRuns) {
		if o.N <= lateAlike*n && n <= lateAlike*o.N {
			return r.lateCostBy(o), true
		}
	}
	return stats.Estimate{Value: 1, Lo: 1, Hi: 1}, false
}

// mayExceedLater reports whether the last late runs show a ratio above the limit among the iterations beyond the timed
// ones. Something may have disturbed these runs.
func (c *Comparison) mayExceedLater(limit float64) bool {
	return c.later > 1 && c.Ratio.Value*c.later > 1+limit
}

// exceedsLater reports the same if the last two late runs of B, of as many iterations, show a larger cost.
func (c *Comparison) exceedsLater(limit float64) bool {
	if !c.mayExceedLater(limit) {
		return false
	}
	b := c.B.inPairs()
	last := len(b.lateRuns) - 1
	return last > 0 && b.lateRuns[last-1].N == b.lateRuns[last].N && rises(b.lateCostBy(b.lateRuns[last-1]))
}

// whyLater says what exceedsLater found.
func (c *Comparison) whyLater() string {
	a, b := c.A.inPairs(), c.B.inPairs()
	than := "whether they do at the other revision is not known"
	if then, known := a.lateLike(b); known {
		than = fmt.Sprintf("at the other revision %.3g times", then.Value)
	}
	return fmt.Sprintf("later iterations take %.3g times as long as those that were compared, and %s", b.late.Value, than)
}
