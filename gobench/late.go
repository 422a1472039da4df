package gobench

import (
	"context"
	"math"
	"slices"
	"time"

	"chronoscope/stats"
)

// Limits of the search for a cost that changes at a later iteration than was timed.
const (
	// lateNs is how long the longest run takes on a machine of its own: the last run of go
	// test takes a second. It may take lateShare of the time that a benchmark has, or with a gate
	// gatedLateShare, as the time of pairs is short.
	lateNs, lateShare, gatedLateShare = 1e9, 0.4, 0.1
	// lateRatio is by which factor the iterations grow from one late run to the next: a cost
	// that grows with them is noticed before it takes long.
	lateRatio = 4
	// lateRuns of equally many iterations have to show a change, since one may be disturbed.
	lateRuns = 3
	// strayShare of the repetitions may have been disturbed, to either side.
	strayShare = 0.1
)

// runLate runs a benchmark with ever more iterations than its repetitions have, until a run
// takes a second or its iterations take another time. Whoever fills a cache, or outgrows one,
// shows that only then.
func (m *measurement) runLate(ctx context.Context, s *Series) error {
	typical := func(of func(Observation) float64) float64 {
		return stats.Median(each(s.Repetitions, func(rep Repetition) float64 { return of(rep.Many) / float64(rep.Many.N) }))
	}
	wallNs, share := typical(wallNs), lateShare
	if m.plan.Gate != nil {
		share = gatedLateShare
	}
	most := int(math.Min(mostN, math.Min(lateNs/typical(dedicatedNs), share*float64(m.plan.MaxTime)/wallNs)))
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

// lateCost is how many times as long an iteration takes in the last late run, beyond those
// that were timed, as one that was timed. Its bounds leave out a tenth of the repetitions to
// either side; they are NaN where it is not known.
func (c *conclusion) lateCost() stats.Estimate {
	e := stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Unit: "ratio"}
	if len(c.series.late) == 0 {
		return e
	}
	late := c.series.late[len(c.series.late)-1]
	var low, high []float64
	for _, rep := range c.used {
		timed := c.boundsOn(c.Basis, rep)
		later := c.boundsOn(c.Basis, Repetition{Few: rep.Many, Many: late, Traced: rep.Traced})
		low, high = append(low, later.lo/timed.hi), append(high, later.hi/timed.lo)
	}
	slices.Sort(low)
	slices.Sort(high)
	e.Lo, e.Hi = stats.Quantile(low, strayShare), stats.Quantile(high, 1-strayShare)
	e.Value = (stats.Median(low) + stats.Median(high)) / 2
	return e
}

// changes reports whether a cost is another one.
func changes(cost stats.Estimate) bool { return cost.Lo > 1+changeShare || cost.Hi < 1-changeShare }
