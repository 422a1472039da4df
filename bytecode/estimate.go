package bytecode

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// source says how a time is computed from the stretches of a series, in nanoseconds per trial.
type source struct {
	// alone selects the starts that measured the reference alone; otherwise the joint ones are used.
	alone bool
	// perTrial returns the time of a trial in one stretch, NaN if the stretch shows none. It is nil for
	// methods that need the sums of many stretches.
	perTrial func(*Series, *Stretch) float64
	// sum returns the time of all trials of a stretch: in ticks if ticks is set, otherwise in ns.
	sum   func(*Series, *Stretch) float64
	ticks bool
	// counts says that the counting thread's counter is used.
	counts bool
}

// fineSource returns a source for timers that are fine enough for single stretches. keeper is the method
// that chose the trials, and shows the method whose timer gives their time.
func fineSource(keeper, shows Method, alone bool) source {
	return source{alone: alone, counts: keeper == Counter, perTrial: func(s *Series, x *Stretch) float64 {
		kept := x.Kept[keeper]
		if kept.Trials == 0 {
			return nan
		}
		return kept.perTrial(shows) * s.unitNs(shows, x)
	}}
}

// allTrials is the source of the reference's time of all trials.
var allTrials = source{sum: func(s *Series, x *Stretch) float64 {
	return float64(x.All.Cycles) * s.unitNs(TSC, x)
}}

// tickSource returns a source that counts ticks. Only the sums of many stretches make it precise.
func tickSource(m Method) source {
	return source{ticks: true, sum: func(s *Series, x *Stretch) float64 {
		if m == Bernoulli {
			return float64(x.All.Ones)
		}
		return float64(x.All.Millis) * millisecondNs / s.TickNs
	}}
}

// unitNs returns the length of one unit of a method's timer, NaN if it is not known.
func (s *Series) unitNs(m Method, x *Stretch) float64 {
	switch {
	case m == TSC && s.TSCHz > 0:
		return 1e9 / s.TSCHz
	case m == Counter && x.rate > 0:
		return millisecondNs / x.rate
	case m == Nano:
		return 1
	}
	return nan
}

var nan = math.NaN()

// evaluation holds a series with its stretches sorted for the estimates.
type evaluation struct {
	*Series
	// stretches holds the stretches of each sequence, by start, without those of slow groups.
	stretches []map[string][]*Stretch
	// empty holds the stretches of the empty sequence, by start and group.
	empty []map[int]*Stretch
	slow  int
}

func newEvaluation(s *Series) *evaluation {
	e := &evaluation{Series: s}
	s.correctRates()
	slow := s.slowGroups()
	for i := range s.Starts {
		start := &s.Starts[i]
		stretches, empty := map[string][]*Stretch{}, map[int]*Stretch{}
		for j := range start.Stretches {
			x := &start.Stretches[j]
			if slow[i][x.Group] {
				e.slow++
				continue
			}
			if x.Sequence == emptyName {
				empty[x.Group] = x
			}
			stretches[x.Sequence] = append(stretches[x.Sequence], x)
		}
		e.stretches, e.empty = append(e.stretches, stretches), append(e.empty, empty)
	}
	return e
}

// trial estimates the time of one trial of a sequence without overhead. For the empty sequence it
// returns the overhead.
func (e *evaluation) trial(name string, from source) stats.Estimate {
	if from.perTrial != nil {
		return e.meanOfStarts(name, from)
	}
	whole := e.meanOfAll(name, from)
	if name == emptyName {
		return whole
	}
	return whole.Less(e.meanOfAll(emptyName, from))
}

// meanOfStarts returns the mean over the virtual machines of the medians of their stretches. The
// machines differ because each lays out code and memory in its own way. The overhead is subtracted
// group by group, so that a slow phase, which affects both, cancels.
func (e *evaluation) meanOfStarts(name string, from source) stats.Estimate {
	starts, missed := e.valuesOf(name, from)
	estimate := meanOfMedians(starts)
	estimate.Discarded = missed
	return estimate
}

// valuesOf returns the times of a sequence without overhead, by virtual machine, and the number of stretches that show
// none. Machines without any are left out.
func (e *evaluation) valuesOf(name string, from source) (starts [][]float64, missed int) {
	for i := range e.Starts {
		if e.Starts[i].Alone != from.alone {
			continue
		}
		var values []float64
		for _, x := range e.stretches[i][name] {
			v := from.perTrial(e.Series, x)
			if name != emptyName {
				v -= e.overheadBeside(i, x, from)
			}
			if math.IsNaN(v) {
				missed++
				continue
			}
			values = append(values, v)
		}
		if len(values) > 0 {
			starts = append(starts, values)
		}
	}
	return starts, missed
}

// machines returns how many virtual machines gave the time of a sequence.
func (e *evaluation) machines(name string, from source) int {
	if from.perTrial != nil {
		starts, _ := e.valuesOf(name, from)
		return len(starts)
	}
	n := 0
	for i := range e.Starts {
		if e.Starts[i].Alone == from.alone && len(e.stretches[i][name]) > 0 {
			n++
		}
	}
	return n
}

// The overhead of a stretch is that of an empty sequence at most nearGroups groups away. The counting
// thread's rates in the two must be the same within similarRate, because the cost of a reading depends
// on the rate.
const (
	nearGroups  = 3
	similarRate = 0.1
)

// overheadBeside returns the time of the nearest suitable empty sequence, NaN if there is none.
func (e *evaluation) overheadBeside(start int, x *Stretch, from source) float64 {
	for distance := range nearGroups + 1 {
		for _, group := range []int{x.Group - distance, x.Group + distance} {
			empty := e.empty[start][group]
			if empty == nil || from.counts && math.Abs(empty.rate-x.rate) > similarRate*x.rate {
				continue
			}
			if ns := from.perTrial(e.Series, empty); !math.IsNaN(ns) {
				return ns
			}
		}
	}
	return nan
}

// meanOfMedians returns the mean of the groups' medians, with Student's interval from their scatter. For
// a single group it uses the group's values instead.
func meanOfMedians(groups [][]float64) stats.Estimate {
	e := stats.NoEstimate("ns", "mean")
	var values []float64
	for _, g := range groups {
		e.N += len(g)
		values = append(values, stats.Median(g))
	}
	if len(groups) == 1 {
		values = groups[0]
	}
	n := float64(len(values))
	if n == 0 {
		return e
	}
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	e.Value = mean
	if n >= 2 {
		half := stats.StudentT(n-1) * math.Sqrt(squares/(n-1)/n)
		e.Lo, e.Hi = mean-half, mean+half
	}
	return e
}

// counted describes a stretch: the sum over its trials, the ticks of the slow clock that passed in all,
// and the number of trials.
type counted struct{ sum, passed, trials float64 }

// meanOfAll returns the mean of all trials, in nanoseconds.
func (e *evaluation) meanOfAll(name string, from source) stats.Estimate {
	var all []counted
	for i := range e.Starts {
		if e.Starts[i].Alone != from.alone {
			continue
		}
		for _, x := range e.stretches[i][name] {
			all = append(all, counted{from.sum(e.Series, x), float64(x.Passed.Millis) * millisecondNs / e.TickNs, float64(x.All.Trials)})
		}
	}
	if from.ticks {
		return ticksATrial(all).Scaled(e.TickNs, "ns")
	}
	return meanATrial(all)
}

// meanATrial returns the ratio of the sums, with Student's interval from the stretches' residuals
// (Cochran, Sampling Techniques, 3rd ed., section 6.3).
func meanATrial(all []counted) stats.Estimate {
	e := stats.NoEstimate("ns", "mean")
	var sum, trials, squares float64
	for _, c := range all {
		sum, trials = sum+c.sum, trials+c.trials
	}
	if trials == 0 || sum == 0 || math.IsNaN(sum) {
		return e
	}
	e.N, e.Value = int(trials), sum/trials
	if n := float64(len(all)); n >= 2 {
		for _, c := range all {
			off := c.sum - e.Value*c.trials
			squares += off * off
		}
		half := stats.StudentT(n-1) * math.Sqrt(squares*n/(n-1)) / trials
		e.Lo, e.Hi = e.Value-half, e.Value+half
	}
	return e
}

// wholeTicks is the variance that rounding to whole ticks adds to the ticks of a stretch. It keeps the
// interval from vanishing if a few stretches happen to see the same number of ticks.
const wholeTicks = 1.0 / 12

// ticksATrial returns the mean number of ticks that a trial sees, with its interval. Each tick is an
// independent chance to fall into a timed region; if there are fewer trials than ticks, each trial is a
// chance to see one. The scatter of the stretches beyond that of independent chances is estimated.
func ticksATrial(all []counted) stats.Estimate {
	e := stats.NoEstimate("ns", "mean")
	e.Unit = "ticks"
	var sum counted
	for _, c := range all {
		sum.sum, sum.passed, sum.trials = sum.sum+c.sum, sum.passed+c.passed, sum.trials+c.trials
	}
	e.N = int(sum.trials)
	units := math.Min(sum.passed, sum.trials)
	if units < 1 {
		return e
	}
	perUnit := sum.sum / units
	f := perUnit - math.Floor(perUnit)
	variance := f * (1 - f)
	s := stats.Scatter{Units: units, Dispersion: 1}
	if n := float64(len(all)); n >= 2 && variance > 0 {
		squares := 0.0
		for _, c := range all {
			chances := c.passed * units / sum.passed
			if chances > 0 {
				squares += ((c.sum-perUnit*chances)*(c.sum-perUnit*chances) + wholeTicks) / (chances * variance)
			}
		}
		s.Observe(squares, n-1, variance)
	}
	lo, hi := stats.ScoreInterval(perUnit, s)
	e.Value, e.Lo, e.Hi = sum.sum/sum.trials, lo*units/sum.trials, hi*units/sum.trials
	return e
}

// times returns the times of one instruction by a method (own) and, for the same trials, by the
// reference (same), without overhead and balancing instructions.
func (e *evaluation) times(in *Instruction, f Form, m Method) (own, same stats.Estimate) {
	own = e.balanced(in, f, e.sourceOf(m))
	if m == TSC {
		return own, own
	}
	return own, e.balanced(in, f, e.referenceOf(m))
}

// balanced returns the time of one execution of the instruction: the time of its sequence divided by the
// number of executions, minus the times of the instructions that stand beside each one to keep the
// operand stack level.
func (e *evaluation) balanced(in *Instruction, f Form, from source) stats.Estimate {
	perInstruction := float64(e.Length)
	time := e.trial(sequenceName(in, f), from).Scaled(1/perInstruction, "ns")
	beside := map[string]float64{}
	for _, mnemonic := range newSequence(in, f, 1).balance {
		beside[mnemonic]++
	}
	for mnemonic, times := range beside {
		own := e.balanced(mustLookup(mnemonic), Homogeneous, from)
		time = time.Less(own.Scaled(times, "ns"))
	}
	return time
}

// sourceOf returns the source of a method's own times.
func (e *evaluation) sourceOf(m Method) source {
	switch m {
	case TSC:
		return fineSource(TSC, TSC, e.hasAlone())
	case Counter, Nano:
		return fineSource(m, m, false)
	}
	return tickSource(m)
}

// referenceOf returns the source of the reference's times for the trials that a method used.
func (e *evaluation) referenceOf(m Method) source {
	if m == Counter || m == Nano {
		return fineSource(m, TSC, false)
	}
	return allTrials
}

func (e *evaluation) hasAlone() bool {
	return slices.ContainsFunc(e.Starts, func(s Start) bool { return s.Alone })
}
