package validate

import (
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Fit is a least-squares line through the times of short runs of a work: T(r) = RoundNs r + StartNs for a run of r
// rounds (Bryant 2003, section 9.4.3).
type Fit struct {
	RoundNs float64 `json:"round_ns"`
	StartNs float64 `json:"start_ns"`
	// Error is the greatest distance of a run from the line, as a share of its time.
	Error float64 `json:"error"`
}

// reference measures short runs of one kind of work. The truth of a cell, how long its work really takes, follows
// from them.
type reference struct {
	do    func(rounds int)
	clock clock.Rated
	// rounds is the number of rounds in a batch.
	rounds int
	fit    Fit
	// traced measures what interrupts take from traced work; nil for other work.
	traced *traced
}

const (
	// batchNs is the length of a batch: much longer than a reading of the clock takes, and so short
	// that most batches escape every disturbance.
	batchNs = 25e3
	// fitted is the number of lengths for the line, from a fifth of a batch to two batches. Each is
	// measured fitRepeats times.
	fitted, fitRepeats = 10, 40
	// escaped is the quantile of short runs that stands for an undisturbed run. Nearly all runs
	// escape disturbances, so that the median is undisturbed. The least would come from moments at
	// which the core was faster.
	escaped    = 0.5
	mostRounds = 1 << 30
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

// newTracedReference returns the reference of the same work in traced steps.
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

// time measures how long the given number of rounds and one reading of the clock take, in
// nanoseconds.
func (r *reference) time(rounds int) float64 {
	start := r.clock.Start()
	r.do(rounds)
	return r.clock.Ns(r.clock.End() - start)
}

// line measures all lengths in turn, so that drift affects all of them, and fits the line.
func (r *reference) line() (Fit, error) {
	var times [fitted][]float64
	for range fitRepeats {
		for i := range times {
			times[i] = append(times[i], r.time(r.fittedRounds(i)))
		}
	}
	var x, y []float64
	for i := range times {
		x, y = append(x, float64(r.fittedRounds(i))), append(y, stats.QuantileOf(times[i], escaped))
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

// level is how long a round takes now, in nanoseconds: the quartiles of some batches. Interrupts hit far fewer
// than one batch in four, so a distance between the quartiles comes from a steadier cause, such as a busy
// hyperthread sibling.
type level struct{ low, middle, high float64 }

// level measures len(times) batches.
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

// undisturbedLevels is the share of levels that is assumed to be undisturbed, however busy a
// sibling on the same core is.
const undisturbedLevels = 0.1

// expected returns the truth: how long rounds take, by the levels around the samples. Its value is
// the median of the levels' middles. Its interval contains the distribution-free interval of that
// median and the medians of the levels' lower and upper quartiles, and is widened by the distance of
// short runs from their line. Its lower end is no higher than the fastest tenth of the levels, since
// a hyperthread sibling that comes and goes would be absent on a machine without other programs.
func expected(levels []level, rounds int, f Fit) stats.Estimate {
	of := func(part func(level) float64) []float64 {
		all := stats.Each(levels, part)
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
