package kbest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

// Comparison is the relation of two subjects' times.
type Comparison struct {
	A, B string
	// Ratio is the time of B divided by that of A: below 1, B is faster.
	Ratio stats.Estimate
	// P is the probability that samples of equal subjects differ at least as much. It comes from signed ranks
	// of each round's samples if both were measured in turn ([stats.PairedPermutationTest]), else from ranks
	// ([stats.PermutationTest]). It is NaN if there are no samples. It tells that there is a difference,
	// however small: with many samples even the linker's placement of the code is significant.
	P float64
	// Rounds is the number of rounds in which both were measured; 0 if they were not measured in turn.
	Rounds  int
	Outcome stats.Outcome
	stats.Judgement
}

// Compare returns how B relates to A. If one call of [Station.Measure] measured both in turn, they share the
// clock, the core's speed and the machine's noise. Errors in these cancel, so that the ratio is known better
// than either time. For other results the ratio's error is that of both times together.
//
// B is faster, or slower, if the ratio's interval excludes 1 and P is below 0.05. They are the same if the
// interval lies within the tolerance about 1, a share (0.01 for 1 %; 0 never calls anything the same).
func Compare(a, b *Result, tolerance float64) (*Comparison, error) {
	switch {
	case a == nil || b == nil || a.from == nil || b.from == nil:
		return nil, errors.New("kbest: a comparison needs two results of Measure")
	case !(tolerance >= 0 && tolerance < 1):
		return nil, fmt.Errorf("kbest: a tolerance of %v: choose a share from 0 to below 1 (0.01 is usual)", tolerance)
	}
	c := &Comparison{A: a.Name, B: b.Name, Ratio: stats.NoEstimate("", "ratio"), P: nan, Outcome: stats.Undecided, Judgement: stats.NewJudgement()}
	c.Join(a.Judgement)
	if b != a {
		c.Join(b.Judgement)
	}
	p := newPair(a.from, b.from)
	c.Rounds = p.rounds
	c.P = p.probability()
	c.Ratio = p.ratio()
	c.Outcome = stats.OutcomeOf(c.Ratio, c.P, tolerance)
	if p.isUnknown {
		c.Lower(stats.Suspect, "the core was shared, and too few samples did not share it to tell what that cost either")
	}
	if c.Verdict == stats.Unusable || p.isUnknown {
		c.Outcome = stats.Undecided
	}
	return c, nil
}

// pair is two subjects with the samples of the rounds that both have. Both use one model of the core's speed.
type pair struct {
	a, b   *conclusion
	rounds int // 0 if they were not measured in turn
	// isUnknown says that samples on a shared core count, and what that cost either is unknown. One subject alone leaves them
	// out, which would shift the ratio, and the other has too few without them.
	isUnknown bool
	// uneven says that one subject has far more samples, as a short one has beside a long one.
	uneven bool
}

// mostUneven is how many times as many samples as rounds a subject may have for its figure in these rounds to be as good
// as its estimate. The first eight of 512 samples of 50 µs, beside 100 ms, were 0.6 % longer than the least of all.
const mostUneven = 4

func newPair(a, b *conclusion) pair {
	if a.m != b.m {
		return pair{a: a, b: b}
	}
	rounds := min(len(a.Samples), len(b.Samples))
	of := func(c *conclusion) []Sample { return slices.Clone(c.Samples[:rounds]) }
	speed := coreSpeedOf(slices.Concat(of(a), of(b)))
	uneven := max(len(a.Samples), len(b.Samples)) > mostUneven*rounds
	p := pair{a: a.again(of(a), speed, false), b: b.again(of(b), speed, false), rounds: rounds, uneven: uneven}
	if one, other := p.a.Rejected[Shared] > 0, p.b.Rejected[Shared] > 0; one != other {
		alike := p.a
		if one {
			alike = p.b
		}
		if alike.mayLeaveOut() {
			alike.rejectShared()
		} else {
			p.a, p.b, p.isUnknown = a.again(of(a), speed, true), b.again(of(b), speed, true), true
		}
	}
	return p
}

// again screens other samples of the same subject with another model of the core's speed. keepShared keeps those on a shared
// core in any case.
func (c *conclusion) again(samples []Sample, speed coreSpeed, keepShared bool) *conclusion {
	r := &Result{Name: c.Name, Samples: samples, Calls: c.Calls, Estimate: c.Estimate,
		Corrected: map[Reason]int{}, Rejected: map[Reason]int{}, Judgement: stats.NewJudgement()}
	other := &conclusion{Result: r, m: c.m, series: c.series, speed: speed, keepShared: keepShared}
	other.screen()
	return other
}

// perCall returns the time of a call in a sample, in nanoseconds.
func (c *conclusion) perCall(x *Sample) float64 {
	return (x.RunNs - c.m.overhead.clockNs) / float64(x.N)
}

// seed returns the seed of the permutations.
func (p pair) seed() uint64 { return p.a.m.plan.Seed }

// probability returns the P value.
func (p pair) probability() float64 {
	if p.rounds == 0 {
		value, _ := stats.PermutationTest(p.a.allPerCall(), p.b.allPerCall(), p.seed())
		return value
	}
	var differences []float64
	for i := range p.rounds {
		x, y := &p.a.Samples[i], &p.b.Samples[i]
		if p.a.counts(x) && p.b.counts(y) {
			differences = append(differences, math.Log(p.b.perCall(y))-math.Log(p.a.perCall(x)))
		}
	}
	value, _ := stats.PairedPermutationTest(slices.DeleteFunc(differences, math.IsNaN), p.seed())
	return value
}

// counts reports whether a sample is accepted and has the full number of calls.
func (c *conclusion) counts(x *Sample) bool { return x.N == c.Calls && x.Rejected == "" }

func (c *conclusion) allPerCall() []float64 {
	var values []float64
	for _, x := range c.full {
		values = append(values, c.perCall(x))
	}
	return values
}

// ratio returns the time of b divided by that of a.
func (p pair) ratio() stats.Estimate {
	if !p.a.sufficient() || !p.b.sufficient() {
		return stats.NoEstimate("", "ratio")
	}
	if p.rounds == 0 || p.uneven || p.a.blocks || p.b.blocks || p.a.Estimate.Statistic == Mean || p.b.Estimate.Statistic == Mean {
		return quotient(p.b.Estimate, p.a.Estimate)
	}
	return p.paired()
}

// quotient returns the quotient of two independent estimates.
func quotient(over, under stats.Estimate) stats.Estimate {
	if !(under.Lo > 0) {
		return stats.NoEstimate("", "ratio")
	}
	return stats.Estimate{
		Value: over.Value / under.Value, Lo: over.Lo / under.Hi, Hi: over.Hi / under.Lo,
		Statistic: "ratio", N: min(over.N, under.N),
	}
}

// paired draws the ratio in scenarios that hold for both subjects: if the machine loses more in a scenario than
// the looks saw, both lose more.
func (p pair) paired() stats.Estimate {
	rng := p.a.m.rng()
	a, b := p.a.inference(rng), p.b.inference(rng)
	observedA, observedB := a.observedNs(), b.observedNs()
	drawnA, drawnB := make([]float64, len(a.used)), make([]float64, len(b.used))
	var w scenario
	var ratios, spreadsA, spreadsB []float64
	for range scenarios {
		a.model.draw(rng, &w)
		excessA, spreadA := a.excessOf(&w, drawnA)
		w.switchNs = b.model.switches.draw(rng)
		excessB, spreadB := b.excessOf(&w, drawnB)
		timeA := (observedA-excessA)/float64(a.n) - p.a.loopNs(rng.NormFloat64())
		timeB := (observedB-excessB)/float64(b.n) - p.b.loopNs(rng.NormFloat64())
		ratios = append(ratios, timeB/timeA)
		spreadsA, spreadsB = append(spreadsA, spreadA), append(spreadsB, spreadB)
	}
	if likely := likelyOf(ratios, spreadsA, spreadsB, a.mostSpread(spreadsA), b.mostSpread(spreadsB)); len(likely) >= scenarios/8 {
		ratios = likely
	}
	for _, values := range [][]float64{ratios, spreadsA, spreadsB} {
		slices.Sort(values)
	}
	if !(ratios[0] > 0) {
		return stats.NoEstimate("", "ratio")
	}
	e := stats.Estimate{Value: stats.Quantile(ratios, 0.5), Lo: stats.Quantile(ratios, 0.01), Hi: stats.Quantile(ratios, 0.99), Statistic: "ratio", N: min(a.to-a.from, b.to-b.from)}
	strange := math.Hypot(a.strangeNs(spreadsA)/observedA, b.strangeNs(spreadsB)/observedB)
	leastA, greatestA := a.otherFactors()
	leastB, greatestB := b.otherFactors()
	e.Lo *= leastB / greatestA * (1 - math.Min(1, strange+b.alikeNs()/observedB+p.b.fixedShare()+p.b.unseen(&b, &a)))
	e.Hi *= greatestB / leastA * (1 + strange + a.alikeNs()/observedA + p.a.fixedShare() + p.a.unseen(&a, &b))
	return e
}

// likelyOf returns the ratios in the scenarios in which the samples of neither subject lie further apart than these distances.
func likelyOf(ratios, spreadsA, spreadsB []float64, mostA, mostB float64) (likely []float64) {
	for i, ratio := range ratios {
		if spreadsA[i] <= mostA && spreadsB[i] <= mostB {
			likely = append(likely, ratio)
		}
	}
	return likely
}

// loopNs returns the time of the empty loop per call, off by the given number of standard errors.
func (c *conclusion) loopNs(deviations float64) float64 {
	loop, ok := c.m.loops[c.series]
	if !ok {
		return 0
	}
	return loop.Value + deviations*loop.HalfWidth()/1.96
}

// fixedShare returns the share of a sample that does not belong to its calls.
func (c *conclusion) fixedShare() float64 {
	return math.Max(0, c.fixedNs()) / leastRun(c.full)
}

// unseen returns the share that unknown noise may have taken of this subject's samples and not of the other's.
// It is 0 unless this subject's samples are long and the other's short: of two long ones noise takes the same
// share.
func (c *conclusion) unseen(own, other *inference) float64 {
	if c.m.looks.known() || own.typicalRunNs() <= escapeNs || other.typicalRunNs() > escapeNs {
		return 0
	}
	return unseenShare
}
