package bytecode

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// source is where a number comes from: what a timer showed of trials, in nanoseconds a
// trial.
type source struct {
	// alone: of the starts of the reference alone, and otherwise of the joint ones.
	alone bool
	// perTrial is what a stretch shows; NaN where it shows nothing. It is nil where only
	// many stretches together tell something, by their sums.
	perTrial func(*Series, *Stretch) float64
	// sum is what all trials of a stretch took: in ticks, where a tick is what one trial
	// sees or another, and in nanoseconds otherwise.
	sum   func(*Series, *Stretch) float64
	ticks bool
	// counts tells that a reading is one of the counting thread's.
	counts bool
}

// fineSource is a timer that tells something of each stretch: the trials are those that
// one method kept, and the numbers those of the same or of another.
func fineSource(keeper, shows Method, alone bool) source {
	return source{alone: alone, counts: keeper == Counter, perTrial: func(s *Series, x *Stretch) float64 {
		kept := x.Kept[keeper]
		if kept.Trials == 0 {
			return nan
		}
		return kept.perTrial(shows) * s.unitNs(shows, x)
	}}
}

// allTrials is what the reference saw of all trials.
var allTrials = source{sum: func(s *Series, x *Stretch) float64 {
	return float64(x.All.Cycles) * s.unitNs(TSC, x)
}}

// tickSource is a count of ticks, which only many stretches together tell something by.
func tickSource(m Method) source {
	return source{ticks: true, sum: func(s *Series, x *Stretch) float64 {
		if m == Bernoulli {
			return float64(x.All.Ones)
		}
		return float64(x.All.Millis) * millisecondNs / s.TickNs
	}}
}

// unitNs is how long the unit of a method's timer is; NaN where it is not known.
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

// evaluation is of a series.
type evaluation struct {
	*Series
	// stretches are those of each sequence, by the start; slow ones are left out.
	stretches []map[string][]*Stretch
	// empty are the empty stretches by start and group.
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

// trial is what a trial of the sequence takes by a source, without overhead; for the
// empty sequence it is the overhead itself.
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

// meanOfStarts is the mean over the virtual machines, each of which lays out code and
// memory in its own way, of the median of their stretches. The overhead is taken off
// group by group, so that what makes both slow for a while makes no difference.
func (e *evaluation) meanOfStarts(name string, from source) stats.Estimate {
	var starts [][]float64
	missed := 0
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
	estimate := meanOfMedians(starts)
	estimate.Discarded = missed
	return estimate
}

// The empty sequence that stands for the overhead of a stretch is one that was timed no
// more groups away than nearGroups, while the counting thread was as fast, but for a share
// of similarRate: what a reading takes depends on that.
const (
	nearGroups  = 3
	similarRate = 0.1
)

// overheadBeside is what the empty sequence took around the same time; NaN where none is
// fit for that.
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

// meanOfMedians is the mean over groups of the median of each, with Student's interval of
// their scatter. Of a single group it is the mean and the scatter of its values.
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

// counted is a stretch: the sum of what its trials took, how many ticks of the slow clock
// passed in all, and how many trials there were.
type counted struct{ sum, passed, trials float64 }

// meanOfAll is the mean of all trials, in nanoseconds.
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

// meanATrial is a ratio of sums, with Student's interval of the stretches' distances from
// it (Cochran, Sampling Techniques, 3rd ed., section 6.3).
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

// wholeTicks is the variance of what a stretch sees more or less than it would if ticks
// could be divided. Few stretches that happen to see the same number don't agree any better
// than to that.
const wholeTicks = 1.0 / 12

// ticksATrial is the mean number of ticks that a trial sees, with its interval. What is
// independent is the tick, which falls into a timed region or not (or the trial, where
// trials are longer than ticks): there are as many chances as there are of the fewer. By
// how much stretches scatter more or less than that is measured.
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

// times are what a method found of one instruction in a sequence, and what the reference
// saw of the same trials, without overhead and balance.
func (e *evaluation) times(in *Instruction, f Form, m Method) (own, same stats.Estimate) {
	own = e.balanced(in, f, e.sourceOf(m))
	if m == TSC {
		return own, own
	}
	return own, e.balanced(in, f, e.referenceOf(m))
}

// balanced is the sequence's time for one instruction, less that of each that balances it.
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

// sourceOf is where a method's own numbers come from.
func (e *evaluation) sourceOf(m Method) source {
	switch m {
	case TSC:
		return fineSource(TSC, TSC, e.hasAlone())
	case Counter, Nano:
		return fineSource(m, m, false)
	}
	return tickSource(m)
}

// referenceOf is where the reference's numbers come from, of the same trials.
func (e *evaluation) referenceOf(m Method) source {
	if m == Counter || m == Nano {
		return fineSource(m, TSC, false)
	}
	return allTrials
}

func (e *evaluation) hasAlone() bool {
	return slices.ContainsFunc(e.Starts, func(s Start) bool { return s.Alone })
}
