package lateness

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// Report says how late timers are.
type Report struct {
	// TimerSlackNs is the time by which the kernel may delay timers of this program, to wake once
	// for several.
	TimerSlackNs stats.Float `json:"timer_slack_ns"`
	Timers       []Result    `json:"timers"`
}

// Result says how late one timer was at one length.
type Result struct {
	Name        string  `json:"name"`
	RequestedNs float64 `json:"requested_ns"`
	// Periodic says that the timer fires periodically.
	Periodic bool `json:"periodic"`
	// Wakes is how often the timer fired, Early how often it fired before it was due.
	Wakes int    `json:"wakes"`
	Early int    `json:"early"`
	Late  Spread `json:"late"`
	// Percentiles are those of the lateness, with intervals.
	Percentiles stats.Tails `json:"percentiles"`
	// Missed is the number of moments of a periodic timer that passed without a wake-up.
	Missed int `json:"missed"`
	// Discarded is the number of wake-ups that are left out because this process was stopped meanwhile, as by Ctrl-Z.
	Discarded int `json:"discarded,omitempty"`
	// DriftPPM is the drift in parts per million: for a periodic timer, how far its moments move
	// relative to the clock; for another one, how far a loop that waits for it repeatedly falls
	// behind. Drift is the same with its interval. That of a periodic timer has none if fewer than two rounds have
	// six wake-ups.
	DriftPPM stats.Float    `json:"drift_ppm"`
	Drift    stats.Estimate `json:"drift"`
	// Quality is 1 for a timer that is never late.
	Quality stats.Float `json:"quality"`
	stats.Judgement
}

// Spread describes how late a timer was, in nanoseconds; below 0 if it was early. A percentile with
// too few wake-ups is missing.
type Spread struct {
	MinNs    stats.Float `json:"min_ns"`
	MedianNs stats.Float `json:"median_ns"`
	P95Ns    stats.Float `json:"p95_ns"`
	P99Ns    stats.Float `json:"p99_ns"`
	MaxNs    stats.Float `json:"max_ns"`
}

// clockNs is the largest error of a reading of the clock.
const clockNs = 1000

func conclude(cells []*cell, plan Plan) Report {
	r := Report{Timers: []Result{}}
	if slack, err := SlackNs(); err == nil {
		r.TimerSlackNs = stats.FloatOf(float64(slack))
	}
	for _, c := range cells {
		if !errors.Is(c.err, errLength) {
			r.Timers = append(r.Timers, c.result(plan))
		}
	}
	return r
}

// result computes the figures of a cell.
func (c *cell) result(plan Plan) Result {
	r := Result{
		Name: c.timer.Name, RequestedNs: float64(c.length), Periodic: c.timer.Periodic,
		Drift: stats.NoEstimate("ppm", "slope"), Judgement: stats.NewJudgement(),
	}
	var late []float64
	for _, s := range c.series {
		late = append(late, s.lateNs...)
		r.Missed += s.missed
		r.Discarded += s.discarded
	}
	for _, ns := range late {
		if ns < -clockNs {
			r.Early++
		}
	}
	slices.Sort(late)
	r.Wakes, r.Percentiles = len(late), stats.TailsOf(late)
	if len(late) > 0 {
		r.Late = Spread{
			MinNs: stats.FloatOf(late[0]), MedianNs: carried(late, 0.5), P95Ns: carried(late, 0.95), P99Ns: carried(late, 0.99),
			MaxNs: stats.FloatOf(late[len(late)-1]),
		}
		r.Drift = c.drift(late)
		r.DriftPPM = stats.FloatOf(r.Drift.Value)
		r.Quality = stats.FloatOf(r.quality())
	}
	r.judge(c, plan)
	return r
}

// carried returns a quantile if the samples are enough for an interval.
func carried(sorted []float64, p float64) stats.Float {
	e, _, err := stats.QuantileInterval(sorted, p, "ns")
	if err != nil {
		return stats.Float{}
	}
	return stats.FloatOf(e.Value)
}

// drift is in parts per million: for a periodic timer, the slope of its lateness over time; for another one, its mean
// lateness over the length.
func (c *cell) drift(late []float64) stats.Estimate {
	if c.timer.Periodic {
		return c.slope()
	}
	mean, deviation := stat.MeanStdDev(late, nil)
	half := stats.StudentT(float64(len(late)-1)) * deviation / math.Sqrt(float64(len(late)))
	e := stats.Estimate{Value: mean, Lo: mean - half, Hi: mean + half, Statistic: "mean", N: len(late)}
	return e.Scaled(1e6/float64(c.length), "ppm")
}

// quality returns the quality that the package comment defines.
func (r *Result) quality() float64 {
	worst := math.Max(math.Abs(r.Late.MinNs.Value()), math.Abs(r.Late.P99Ns.Or(r.Late.MaxNs.Value())))
	return r.RequestedNs / (r.RequestedNs + worst) * float64(r.Wakes) / float64(r.Wakes+r.Missed)
}

// judge sets the verdict, and names the timer's faults.
func (r *Result) judge(c *cell, plan Plan) {
	if c.err != nil && !errors.Is(c.err, context.Canceled) {
		r.Lower(stats.Unusable, "%v", c.err)
	}
	if r.Wakes == 0 && c.err == nil {
		r.Lower(stats.Unusable, "it was not measured")
	}
	if r.Wakes > 0 && r.Wakes < plan.Wakes {
		r.Lower(stats.Suspect, "it fired %d of %d times before the measurement ended", r.Wakes, plan.Wakes)
	}
	if r.Wakes > 0 && !r.Late.MedianNs.Known() {
		r.Lower(stats.Suspect, "%d wake-ups carry no median, which takes 6", r.Wakes)
	}
	if few, many, differ := c.rounds(r.Late.P95Ns.Or(math.NaN())); differ {
		r.Lower(stats.Suspect, "%d of %d wake-ups of one round were later than the 95th percentile, and %d of %d of another: what delays them comes and goes, and other rounds may differ by more than the intervals say", many.late, many.wakes, few.late, few.wakes)
	}
	if r.Early > 0 {
		r.Lower(stats.Suspect, "it fired before it was due %d of %d times, by up to %s", r.Early, r.Wakes, stats.Duration(-r.Late.MinNs.Value(), 3))
	}
}

// tardy counts the wake-ups of a round, and those of them that were later than a limit.
type tardy struct{ late, wakes int }

// rounds returns the rounds with the fewest and the most wake-ups later than a limit. They differ if chance makes such
// counts in fewer than one case in a thousand (chi-squared test of homogeneity).
func (c *cell) rounds(limitNs float64) (few, many tardy, differ bool) {
	const fewestExpected, oneInAThousand = 3, 0.001
	var all []tardy
	var sum tardy
	for _, s := range c.series {
		r := tardy{wakes: len(s.lateNs)}
		for _, ns := range s.lateNs {
			if ns > limitNs {
				r.late++
			}
		}
		all = append(all, r)
		sum.late, sum.wakes = sum.late+r.late, sum.wakes+r.wakes
	}
	share := float64(sum.late) / float64(sum.wakes)
	var chiSquared float64
	var compared []tardy
	for _, r := range all {
		expected := share * float64(r.wakes)
		if expected >= fewestExpected {
			compared = append(compared, r)
			off := float64(r.late) - expected
			chiSquared += off * off / expected / (1 - share)
		}
	}
	degrees := float64(len(compared) - 1)
	if degrees < 1 {
		return few, many, false
	}
	byShare := func(a, b tardy) int { return cmp.Compare(a.late*b.wakes, b.late*a.wakes) }
	few, many = slices.MinFunc(compared, byShare), slices.MaxFunc(compared, byShare)
	return few, many, distuv.ChiSquared{K: degrees}.Survival(chiSquared) < oneInAThousand
}
