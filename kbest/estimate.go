package kbest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"chronoscope/stats"
)

// The statistics that an estimate can be.
const (
	// MinK is the mean of the K least samples: Bryant's scheme.
	MinK = "min-k"
	// Typical is the mean of the samples from the 10th to the 60th percentile, less what disturbances add to
	// it. It is used if this addition is known better than that to the K least, as with few long samples.
	Typical = "typical"
)

// inference turns the accepted samples of a subject into an estimate.
//
// The statistic of the samples ([MinK] or [Typical]) exceeds the undisturbed time by a random excess. Its
// distribution follows from the model of the disturbances, from the clock's rounding and from the number of
// samples. The excess is drawn many times, each time in another scenario that the looks allow. The observed
// statistic less the draws is the distribution of the time sought (a bootstrap: Efron and Tibshirani, An
// Introduction to the Bootstrap, section 6.5). Short and long samples need no different rules: the least of
// short samples have no excess in any scenario.
type inference struct {
	used      []*Sample
	n         int // calls in each
	model     disturbances
	accuracy  float64 // of the clock, in nanoseconds
	overhead  overhead
	k         int
	statistic string
	speed     coreSpeed
	scaling   scaling
	runNs     []float64 // of the used samples, at the reference rate
	from, to  int       // the statistic is the mean of runNs[from:to]
	drawn     draws
	otherNs   float64 // time of one call by another choice of samples, if that disagrees; else 0
	rng       *rand.Rand
}

// scenarios is the number of Monte Carlo draws for an interval.
const scenarios = 200

// newInference chooses the samples and the statistic. Usually it takes the samples that kept their CPU. If
// these are fewer than half, all of them may hold an interruption that some of the others escaped. Then it
// takes all samples, if the excess is known better with them and both estimates agree. If all samples give less, by up to
// a typical interruption, each of those that kept their CPU is taken to hold one. If they differ otherwise, the kernel's
// CPU time may be wrong, and the samples that kept their CPU count. Either way both estimates bound the result.
func newInference(accepted []*Sample, model disturbances, accuracy float64, o overhead, speed coreSpeed, k int, rng *rand.Rand) inference {
	v := inference{model: model, accuracy: accuracy, overhead: o, speed: speed, k: k, rng: rng}
	kept := calm(accepted, k)
	least := v.over(kept, false)
	if len(kept) < len(accepted)/2 {
		if all := v.over(slices.Clone(accepted), true); all.drawn.width() < least.drawn.width() {
			kept, other := least.estimate(), all.estimate()
			if kept.Covers(other.Value) {
				return all
			}
			if less := kept.Lo - other.Value; less > 0 && less <= model.looks.eachNs()/float64(least.n) {
				all.otherNs = kept.Value
				return all
			}
			least.otherNs = other.Value
		}
	}
	return least
}

// over infers the time from the given samples. The statistic is the mean of the K least, or that of the samples of
// ranks 10 % to 60 % (Typical) if its interval is narrower, or if the thread lost its CPU during the least sample.
// borneOut drops the last condition: the estimate from other samples then confirms the K least.
func (v inference) over(samples []*Sample, borneOut bool) inference {
	v.used = samples
	v.n = v.used[0].N
	v.scaling = v.speed.scalingOf(v.used)
	slices.SortFunc(v.used, func(a, b *Sample) int {
		return cmp.Compare(v.speed.atReference(a, v.scaling), v.speed.atReference(b, v.scaling))
	})
	for _, x := range v.used {
		v.runNs = append(v.runNs, v.speed.atReference(x, v.scaling))
	}
	v.statistic, v.to = MinK, min(v.k, len(v.used))
	typical := v
	typical.statistic, typical.from, typical.to = Typical, len(v.used)/10, (6*len(v.used)+9)/10
	v.drawn, typical.drawn = v.draws(typical)
	width := v.drawn.width()
	if v.used[0].switches() > 0 && !borneOut || width > leastWidth*v.typicalRunNs() && width > typical.drawn.width() {
		return typical
	}
	return v
}

// leastWidth is a share of a sample. If the excess of the K least is known to within leastWidth, no other
// statistic is tried.
const leastWidth = 0.001

// calm returns the samples during which the thread kept its CPU, if there are enough of them, and all
// otherwise.
func calm(accepted []*Sample, k int) []*Sample {
	var calm []*Sample
	for _, x := range accepted {
		if x.Corrected == "" && x.switches() == 0 {
			calm = append(calm, x)
		}
	}
	if len(calm) < max(8, 2*k, len(accepted)/10) {
		return slices.Clone(accepted)
	}
	return calm
}

func (v inference) typicalRunNs() float64 { return v.runNs[len(v.runNs)*3/10] }

// undisturbedNs returns about how long a sample would have run without losses.
func (v inference) undisturbedNs() float64 {
	return math.Min(v.runNs[0], v.typicalRunNs()/(1+v.model.looks.share()))
}

// estimate returns the time of one call, in nanoseconds.
func (v inference) estimate() stats.Estimate {
	observed, excess := v.observedNs(), v.drawn.excess
	e := stats.Estimate{Unit: "ns", Statistic: v.statistic, N: v.to - v.from}
	e.Value = observed - stats.Quantile(excess, 0.5)
	e.Lo, e.Hi = observed-stats.Quantile(excess, 0.99), observed-stats.Quantile(excess, 0.01)
	strange := v.strangeNs(v.drawn.spread)
	e.Lo, e.Hi = e.Lo-strange-v.alikeNs(), e.Hi+strange
	if bound := v.boundNs(); bound < e.Value {
		// The work varies by more than the model does: then the K-th least says more than the statistic.
		kth := v.kthNs()
		e.Value = math.Min(bound, kth-stats.Quantile(v.drawn.least, 0.5))
		e.Lo = math.Min(e.Lo, kth-stats.Quantile(v.drawn.least, 0.99))
		e.Hi = bound
	} else {
		e.Hi = math.Min(e.Hi, bound)
	}
	e.Lo = math.Min(e.Lo, e.Value)
	if v.statistic == MinK { // no number of samples resolves one better than the clock does
		e.Lo, e.Hi = e.Lo-v.accuracy, e.Hi+v.accuracy
	}
	e.Value, e.Lo, e.Hi = math.Max(0, e.Value), math.Max(0, e.Lo), math.Max(0, e.Hi)
	e = e.Scaled(1/float64(v.n), "ns")
	if v.otherNs > 0 {
		e.Lo, e.Hi = math.Min(e.Lo, v.otherNs), math.Max(e.Hi, v.otherNs)
	}
	return e
}

// otherFactors returns the least and the greatest factor by which another choice of samples differs; 1 and 1 if it does
// not disagree.
func (v inference) otherFactors() (least, greatest float64) {
	value := v.estimate().Value
	if !(v.otherNs > 0 && value > 0) {
		return 1, 1
	}
	return math.Min(1, v.otherNs/value), math.Max(1, v.otherNs/value)
}

// observedNs returns the statistic, of whole samples.
func (v inference) observedNs() float64 { return v.mean(func(i int) float64 { return v.runNs[i] }) }

// mean returns the mean over the ranks that the statistic uses.
func (v inference) mean(of func(int) float64) float64 {
	var sum float64
	for i := v.from; i < v.to; i++ {
		sum += of(i)
	}
	return sum / float64(v.to-v.from)
}

// draws are the values that the model gives in many scenarios, each sorted, in nanoseconds.
type draws struct {
	// excess has the differences of the statistic from the undisturbed time of a sample, least those of the
	// K-th least sample, and spread the distances between the first and the last rank of the statistic. above has
	// the distances of the sample at nearby from the statistic.
	excess, least, spread, above []float64
}

// width returns the width of the middle 98 % of the excess.
func (d draws) width() float64 {
	return stats.Quantile(d.excess, 0.99) - stats.Quantile(d.excess, 0.01)
}

// draws draws many scenarios for two statistics of the same samples.
func (v inference) draws(other inference) (own, others draws) {
	var w scenario
	drawn := make([]float64, len(v.used))
	of := func(i int) float64 { return drawn[i] }
	for range scenarios {
		v.model.draw(v.rng, &w)
		excess, spread := v.excessOf(&w, drawn)
		least := v.overhead.clockNs + drawn[min(v.k, len(drawn))-1]
		near := drawn[nearby(len(drawn))]
		own.add(excess, spread, least, near-v.mean(of))
		others.add(excess-v.mean(of)+other.mean(of), drawn[other.to-1]-drawn[other.from], least, near-other.mean(of))
	}
	others.likely(other.mostSpread(others.spread))
	own.sort()
	others.sort()
	return own, others
}

func (d *draws) add(excess, spread, least, above float64) {
	d.excess, d.spread = append(d.excess, excess), append(d.spread, spread)
	d.least, d.above = append(d.least, least), append(d.above, above)
}

// likely leaves out scenarios in which the samples lie further apart than most.
func (d *draws) likely(most float64) {
	kept := draws{}
	for i, spread := range d.spread {
		if spread <= most {
			kept.add(d.excess[i], spread, d.least[i], d.above[i])
		}
	}
	*d = kept
}

// likelyTimes is how many times as far apart as the observed samples those of a likely scenario may lie.
const likelyTimes = 2

// mostSpread returns how far apart the samples of the statistic may lie in a likely scenario: likelyTimes as far as the
// observed ones, or as far as in half of the scenarios if that is more. The distances of the K least say nothing: these are
// equal if all of them escaped, and if none did.
func (v inference) mostSpread(spreads []float64) float64 {
	if v.statistic == MinK {
		return inf
	}
	return math.Max(likelyTimes*(v.runNs[v.to-1]-v.runNs[v.from]), stats.Median(spreads))
}

func (d *draws) sort() {
	for _, values := range [][]float64{d.excess, d.spread, d.least, d.above} {
		slices.Sort(values)
	}
}

// excessOf draws the excess and the spread of the statistic in a scenario. drawn is a buffer with one place for
// each used sample.
func (v inference) excessOf(w *scenario, drawn []float64) (excess, spread float64) {
	run := v.undisturbedNs()
	place := v.rng.Float64()
	left, off := v.scaling.left*v.rng.Float64(), v.scaling.standardError*v.rng.NormFloat64()
	for i, x := range v.used {
		drawn[i] = v.rounded(place, w.add(v.rng, run, x)+v.jitter()) + run*v.misscaled(x, left, off)
	}
	slices.Sort(drawn)
	clock := v.overhead.clockNs + v.overhead.clockSE*v.rng.NormFloat64()
	return clock + v.mean(func(i int) float64 { return drawn[i] }), drawn[v.to-1] - drawn[v.from]
}

// rounded returns by how much a sample reads longer than its undisturbed time. place is where the undisturbed
// time ends between two values of the clock, from 0 to 1, the same for all samples. Both readings are rounded
// down, so that their difference is rounded up or down.
func (v inference) rounded(place, excessNs float64) float64 {
	return v.accuracy * (math.Floor(v.rng.Float64()+place+excessNs/v.accuracy) - place)
}

// misscaled draws the relative error of a sample in one scenario, because the core's rate wanders. left is the
// standard deviation of what scaling leaves of the wandering, exponentOff the error of the exponent.
func (v inference) misscaled(x *Sample, left, exponentOff float64) float64 {
	if v.scaling.left == 0 {
		return 0
	}
	share := left * v.rng.NormFloat64()
	if exponentOff != 0 {
		share += exponentOff * v.speed.departure(x)
	}
	return share
}

func (v inference) jitter() float64 {
	return v.overhead.jitterNs[v.rng.IntN(len(v.overhead.jitterNs))]
}

// strangeNs returns the uncertainty from samples that differ by more than the model explains: the work itself
// varies, or a disturbance was not seen by the looks.
func (v inference) strangeNs(spread []float64) float64 {
	observed := v.runNs[v.to-1] - v.runNs[v.from]
	unexplained := math.Max(0, observed-stats.Quantile(spread, 0.9))
	if v.statistic == MinK {
		return unexplained
	}
	return 1.5 * unexplained / math.Sqrt(float64(v.to-v.from))
}

// alikeNs returns the uncertainty from samples that are more alike than the model predicts. The model may say that the K
// least escaped losses that the next ones had. If both are as long, perhaps none escaped.
func (v inference) alikeNs() float64 {
	if v.statistic != MinK || nearby(len(v.used)) < v.to {
		return 0
	}
	return math.Max(0, stats.Quantile(v.drawn.above, 0.1)-(v.runNs[nearby(len(v.used))]-v.observedNs()))
}

// nearby returns the rank of the sample with which the K least of n are compared.
func nearby(n int) int { return n / 10 }

// kthNs returns the K-th least sample.
func (v inference) kthNs() float64 { return v.runNs[min(v.k, len(v.runNs))-1] }

// boundNs returns an upper bound of the time, since disturbances only ever add. It rests on the K-th least
// sample instead of the least, so that a single wrong correction can't set it.
func (v inference) boundNs() float64 {
	bound := v.kthNs() - stats.Quantile(v.drawn.least, 0.01) + v.accuracy + 2*v.overhead.clockSE
	return bound * (1 + 3*v.scaling.left + 2*v.speed.standardError)
}
