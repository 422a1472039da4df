package kbest

import (
	"math"
	"math/rand/v2"

	"chronoscope/machine"
)

// disturbances is a model of what a CPU adds to the running time of a sample: what
// [machine.Noise] saw of it, and what a watch of that length can have missed.
type disturbances struct {
	sources   []source
	watchedNs float64
	// switches is what each involuntary switch adds.
	switches switchCost
	// held is how likely CPU time holds the kernel's interrupts, and now by what
	// factor more is lost than the profile says, within spread: see [weather].
	held, now, spread float64
}

// source is one cause of interruptions.
type source struct {
	// periodNs is the distance of regular ones; perNs the rate of those at random.
	periodNs, perNs float64
	length          length
	// seen is how many the profile rests on.
	seen float64
	// kernel says that the kernel knows of them, and may take them off CPU time.
	kernel bool
}

// length is a distribution that never falls below least and has a log-normal tail
// above.
type length struct {
	least, mu, sigma float64
	mean, sd         float64
}

func newLength(least, mu, sigma float64) length {
	tail := math.Exp(mu + sigma*sigma/2)
	return length{least: least, mu: mu, sigma: sigma, mean: least + tail, sd: tail * math.Sqrt(math.Expm1(sigma*sigma))}
}

func (l length) draw(rng *rand.Rand) float64 {
	return l.least + math.Exp(l.mu+l.sigma*rng.NormFloat64())
}

// mostSigma keeps a single outlier of a short watch from making a tail that has no
// end.
const mostSigma = 2.5

// newDisturbances is the model of a profile.
func newDisturbances(n machine.Noise) disturbances {
	d := disturbances{watchedNs: n.WatchedNs, held: 1, now: 1, spread: inf}
	for _, r := range n.Regular {
		if r.PeriodNs > 0 && r.MeanNs > 0 && r.MeanNs < r.PeriodNs {
			d.sources = append(d.sources, source{periodNs: r.PeriodNs, length: regularLength(r), seen: n.WatchedNs / r.PeriodNs, kernel: r.Kernel})
		}
	}
	if n.IrregularPerSecond > 0 && n.IrregularShare > 0 {
		perNs := n.IrregularPerSecond / 1e9
		seen := perNs * n.WatchedNs
		d.sources = append(d.sources, source{perNs: perNs, length: irregularLength(n.IrregularShare/perNs, n.IrregularWorstNs, seen), seen: seen, kernel: true})
	}
	return d
}

// regularLength is the log-normal that has the profile's median and mean.
func regularLength(r machine.Interruption) length {
	median, mean := r.MedianNs-r.LeastNs, r.MeanNs-r.LeastNs
	if !(median > 0) || !(mean > 0) {
		return newLength(r.MeanNs*0.99, math.Log(r.MeanNs*0.01), 0.1)
	}
	sigma := 0.1
	if mean > median {
		sigma = math.Min(mostSigma, math.Max(sigma, math.Sqrt(2*math.Log(mean/median))))
	}
	return newLength(r.LeastNs, math.Log(mean)-sigma*sigma/2, sigma)
}

// irregularLength is the log-normal that has the profile's mean, and its worst
// where the greatest of so many would lie.
func irregularLength(mean, worst, seen float64) length {
	z := math.Sqrt(2 * math.Log(math.Max(2, seen)))
	sigma := 0.5
	if worst > mean {
		sigma = z - math.Sqrt(math.Max(0, z*z-2*math.Log(worst/mean)))
		sigma = math.Min(mostSigma, math.Max(0.3, sigma))
	}
	return newLength(0, math.Log(mean)-sigma*sigma/2, sigma)
}

// calmShare is the share of samples of that running time that nothing falls into.
func (d disturbances) calmShare(runNs float64) float64 {
	share := 1.0
	for _, s := range d.sources {
		if s.periodNs > 0 {
			share *= math.Max(0, 1-runNs/s.periodNs)
		} else {
			share *= math.Exp(-s.perNs * runNs)
		}
	}
	return share
}

// certainNs is what has fallen into a running time without a break at the very
// least: the compensation of Bryant 2003, section 9.4.3.
func (d disturbances) certainNs(runNs float64) float64 {
	var sum float64
	for _, s := range d.sources {
		if s.periodNs > 0 {
			sum += math.Floor(runNs/s.periodNs) * s.length.least
		}
	}
	return sum * math.Min(1, d.now) * (1 - profileError)
}

// world is one possible truth about the disturbances: a profile that rests on few
// of them is off by chance.
type world struct {
	sources  []source
	switchNs float64
	// leftOut says that CPU time does not hold the kernel's interrupts.
	leftOut bool
	// factor is by how much more is lost than the profile says.
	factor float64
}

// profileError is how far a profile may be off beyond chance, as the weather
// changes.
const profileError = 0.2

// Lengths of what a watch can have missed, in nanoseconds.
const leastMissed, mostMissed = 1e3, 2e5

// draw is a possible truth.
func (d disturbances) draw(rng *rand.Rand, w *world) {
	w.sources = append(w.sources[:0], d.sources...)
	for i := range w.sources {
		w.sources[i].vary(rng)
	}
	if d.watchedNs > 0 {
		ns := leastMissed * math.Exp(rng.Float64()*math.Log(mostMissed/leastMissed))
		w.sources = append(w.sources, source{perNs: rng.ExpFloat64() / d.watchedNs, length: newLength(0, math.Log(ns), 0.5)})
	}
	w.switchNs = d.switches.draw(rng)
	w.leftOut = rng.Float64() >= d.held
	w.factor = math.Pow(d.now, 1.2*rng.Float64())
	if d.now != 1 && !math.IsInf(d.spread, 1) {
		w.factor = d.now * math.Exp(d.spread*rng.NormFloat64()-d.spread*d.spread/2)
	}
}

// vary moves a source within the error of its profile.
func (s *source) vary(rng *rand.Rand) {
	relative := s.length.sd / s.length.mean
	factor := math.Exp(rng.NormFloat64() * math.Sqrt(relative*relative/math.Max(1, s.seen)+profileError*profileError))
	excess := math.Max(0.01*s.length.mean, s.length.mean*factor-s.length.least)
	tail := s.length.mean - s.length.least
	s.length.mu += math.Log(excess / tail)
	s.length.sd *= excess / tail
	s.length.mean = s.length.least + excess
	if s.perNs > 0 {
		s.perNs *= math.Max(0.05, 1+rng.NormFloat64()/math.Sqrt(math.Max(1, s.seen)))
	}
}

// add draws what is in a sample of that running time.
func (w *world) add(rng *rand.Rand, runNs float64, x *Sample) float64 {
	return w.switchNs*float64(x.switches()) + w.interrupted(rng, runNs, x.Corrected != "")
}

// interrupted draws what interruptions fall into a running time, by the clock or by
// CPU time.
func (w *world) interrupted(rng *rand.Rand, runNs float64, byCPUTime bool) float64 {
	var sum float64
	for i := range w.sources {
		if !(byCPUTime && w.leftOut && w.sources[i].kernel) {
			sum += w.sources[i].add(rng, runNs)
		}
	}
	return w.factor * sum
}

// interruptedInAll draws what falls into many samples together, which begin at random
// places: those that were timed by the clock and those by CPU time.
func (w *world) interruptedInAll(rng *rand.Rand, byClockNs, byCPUNs float64) float64 {
	var sum float64
	for i := range w.sources {
		s := w.sources[i]
		ns := byClockNs
		if !(w.leftOut && s.kernel) {
			ns += byCPUNs
		}
		if s.periodNs > 0 {
			s.perNs, s.periodNs = 1/s.periodNs, 0
		}
		sum += s.add(rng, ns)
	}
	return w.factor * sum
}

// explicit is up to how many lengths are drawn one by one; more of them are
// near enough to normal in sum.
const explicit = 12

func (s *source) add(rng *rand.Rand, runNs float64) float64 {
	n := s.count(rng, runNs)
	if n == 0 {
		return 0
	}
	if n > explicit {
		return math.Max(n*s.length.least, n*s.length.mean+math.Sqrt(n)*s.length.sd*rng.NormFloat64())
	}
	var sum float64
	for range int(n) {
		sum += s.length.draw(rng)
	}
	return sum
}

// count draws how many fall into a running time.
func (s *source) count(rng *rand.Rand, runNs float64) float64 {
	if s.periodNs > 0 {
		return math.Floor(runNs/s.periodNs + rng.Float64())
	}
	mean := s.perNs * runNs
	if mean > 30 {
		return math.Max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()))
	}
	n := 0.0
	for left := rng.ExpFloat64(); left < mean; left += rng.ExpFloat64() {
		n++
	}
	return n
}
