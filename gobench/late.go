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
	// lateRuns is the number of late runs, with the same number of iterations, that have to show a change,
	// since one run may be disturbed.
	lateRuns = 3
	// strayShare is the share of the repetitions, on either side, that may have been disturbed.
	strayShare = 0.1
)

// runLate runs a benchmark with more and more iterations than its repetitions have. It stops after a run of a
// second, or earlier if the plan leaves less time, or if lateRuns runs show that the added iterations are slower or
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
			if !changes(Conclude(s, m.plan, m.setting).late) {
				break
			}
			if changed++; changed == lateRuns {
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

// fewestLate is the number of late runs of a benchmark, with the same number of iterations, that tell of a larger cost, as one may be
// disturbed.
const fewestLate = 2

// confirmLate makes one more late run of each benchmark of a group, after others and at another time, as what disturbed one may have
// disturbed the next ones, too. It has as many iterations as the last one of the last benchmark. One that is much slower has none.
func (m *measurement) confirmLate(ctx context.Context, group []*Series) error {
	late := group[len(group)-1].late
	n := late[len(late)-1].N
	for _, s := range group {
		if s.typical(processNs)*float64(n) > lateAlike*gatedLateShare*float64(m.plan.MaxTime) {
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

// lateAlike is the factor by which the iterations of two late runs may differ that are compared.
const lateAlike = 2

// laterRatio returns by what factor the ratio of two benchmarks is larger among the iterations beyond the timed ones. It is 1
// unless the cost rises there in b, in fewestLate runs and the last one, and by more than in a. It is NaN if a made no late run of
// about as many iterations.
func laterRatio(a, b *Result) float64 {
	if !rises(b.late) {
		return 1
	}
	n, rising := b.lateRuns[len(b.lateRuns)-1].N, 0
	for _, o := range b.lateRuns {
		if o.N == n && rises(b.lateCostBy(o)) {
			rising++
		}
	}
	if rising < fewestLate {
		return 1
	}
	for _, o := range slices.Backward(a.lateRuns) {
		if o.N > lateAlike*n || n > lateAlike*o.N {
			continue
		}
		then := a.lateCostBy(o)
		if b.late.Lo <= then.Hi {
			return 1
		}
		return b.late.Value / then.Value
	}
	if rises(a.late) { // its late runs ended earlier for that
		return 1
	}
	return math.NaN()
}

// exceedsLater reports whether the ratio among the iterations beyond the timed ones may be above the limit, where the timed ones
// don't show it.
func (c *Comparison) exceedsLater(limit float64) bool {
	return c.Metric == "" && c.later != 1 && !(c.Ratio.Value*c.later <= 1+limit)
}

// whyLater says what exceedsLater found.
func (c *Comparison) whyLater() string {
	late := c.B.inPairs().late.Value
	than := "no run there tells whether they do at the other revision"
	if !math.IsNaN(c.later) {
		than = fmt.Sprintf("at the other revision %.3g times", late/c.later)
	}
	return fmt.Sprintf("iterations beyond those that were compared take %.3g times as long as these, and %s", late, than)
}
