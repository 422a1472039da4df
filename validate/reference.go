package validate

import (
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Fit is how long short runs of a work take, by the number of their rounds:
// T(r) = RoundNs r + StartNs, by least squares (Bryant 2003, section 9.4.3).
type Fit struct {
	RoundNs float64 `json:"round_ns"`
	StartNs float64 `json:"start_ns"`
	// Error is how far a run lay from the line at most, as a share.
	Error float64 `json:"error"`
}

// reference is a work with what is known of its short runs.
type reference struct {
	do    func(rounds int)
	clock clock.Rated
	// rounds make a batch.
	rounds int
	fit    Fit
	// traced sees what interrupts the work; nil for most.
	traced *traced
}

const (
	// batchNs is long beside a reading of the clock, and so short that most batches
	// escape every disturbance.
	batchNs = 25e3
	// fitted lengths, from a fifth of a batch to two, each measured fitRepeats times.
	fitted, fitRepeats = 10, 40
	// escaped is the middle one of short runs, of which nearly all escape. The least would
	// be those of a core that is faster for a moment.
	escaped    = 0.5
	mostRounds = 1 << 40
)

// newReference finds how many rounds make a batch, and fits the line.
func newReference(c clock.Rated, do func(rounds int)) (*reference, error) {
	r := &reference{do: do, clock: c, rounds: 1}
	for r.least() < batchNs && r.rounds < mostRounds {
		r.rounds *= 2
	}
	r.rounds = max(fitted, int(float64(r.rounds)*batchNs/r.least()))
	var err error
	r.fit, err = r.line()
	return r, err
}

// newTracedReference is that of a work in traced steps.
func newTracedReference(plain *reference) (*reference, error) {
	t := newTraced(plain)
	r, err := newReference(plain.clock, t.run)
	if err == nil {
		r.traced = t
	}
	return r, err
}

func (r *reference) least() float64 {
	least := math.Inf(1)
	for range 5 {
		least = math.Min(least, r.time(r.rounds))
	}
	return math.Max(least, r.clock.TickNs.Value)
}

// time is that of so many rounds, in nanoseconds, with that of a reading of the clock.
func (r *reference) time(rounds int) float64 {
	start := r.clock.Start()
	r.do(rounds)
	return r.clock.Ns(r.clock.End() - start)
}

// line measures all lengths in turn, so that drift hits all alike, and fits.
func (r *reference) line() (Fit, error) {
	var times [fitted][]float64
	for range fitRepeats {
		for i := range times {
			times[i] = append(times[i], r.time(r.fittedRounds(i)))
		}
	}
	var x, y []float64
	for i := range times {
		slices.Sort(times[i])
		x, y = append(x, float64(r.fittedRounds(i))), append(y, stats.Quantile(times[i], escaped))
	}
	line, err := stats.LeastSquares(x, y)
	if err != nil {
		return Fit{}, err
	}
	f := Fit{RoundNs: line.Slope.Value, StartNs: line.Intercept.Value}
	for i := range x {
		f.Error = math.Max(f.Error, math.Abs(y[i]/line.At(x[i])-1))
	}
	return f, nil
}

func (r *reference) fittedRounds(i int) int { return max(1, 2*r.rounds*(i+1)/fitted) }

// level is what a round takes now: the quartiles of some batches. How far apart these are
// is the machine's own doing, such as a hyperthread sibling's: interrupts hit far fewer.
type level struct{ low, middle, high float64 }

// level takes it. times has room for one batch each.
func (r *reference) level(times []float64) level {
	for i := range times {
		times[i] = r.time(r.rounds)
	}
	slices.Sort(times)
	perRound := func(p float64) float64 {
		return (stats.Quantile(times, p) - r.fit.StartNs) / float64(r.rounds)
	}
	return level{perRound(0.25), perRound(0.5), perRound(0.75)}
}

// undisturbedLevels is the share of levels that nothing outside has slowed, however busy
// what shares the core is.
const undisturbedLevels = 0.1

// expected is how long so many rounds take, by the levels around the samples: the median
// of their middles. The interval is that of this median, whatever the distribution is, and
// reaches from the typical lower quartile to the typical upper one, wider by how far short
// runs lie from their line. It reaches down to where one level in ten lies: what comes and
// goes while a work is measured, such as a hyperthread sibling, is not there on a machine of
// its own.
func expected(levels []level, rounds int, f Fit) stats.Estimate {
	of := func(part func(level) float64) []float64 {
		var all []float64
		for _, l := range levels {
			all = append(all, part(l))
		}
		slices.Sort(all)
		return all
	}
	middles := of(func(l level) float64 { return l.middle })
	e, _, err := stats.QuantileInterval(middles, 0.5, "ns")
	if err != nil && len(middles) > 0 {
		e.Lo, e.Hi = middles[0], middles[len(middles)-1]
	}
	e.Lo = math.Min(e.Lo, stats.Quantile(of(func(l level) float64 { return l.low }), 0.5))
	if len(middles) > 0 {
		e.Lo = math.Min(e.Lo, stats.Quantile(middles, undisturbedLevels))
	}
	e.Hi = math.Max(e.Hi, stats.Quantile(of(func(l level) float64 { return l.high }), 0.5))
	e = e.Scaled(float64(rounds), "ns")
	e.Value += f.StartNs
	e.Lo += f.StartNs - f.Error*e.Value
	e.Hi += f.StartNs + f.Error*e.Value
	e.Statistic = "reference"
	return e
}
