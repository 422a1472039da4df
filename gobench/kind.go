package gobench

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// Limits of what is taken for granted.
const (
	// calmShare of waiting does not matter.
	calmShare = 0.004
	// calmRunShare of the time of the runs themselves, rather than of what long runs have beyond short ones.
	calmRunShare = 0.02
	// aloneWithin is which share of the CPU time may pass without a thread that could run, or with
	// a second one, in a benchmark of one thread; twice that where repetitions differ as much.
	aloneWithin = 0.04
	// nothingMissing is a share of that kind that does not matter.
	nothingMissing = 0.003
	// A run escaped the others if its threads waited for a CPU for at most escapedShare of its time. As
	// many as fewestEscaped of these, of leastEscapedNs of CPU time each, tell how many could run.
	escapedShare, fewestEscaped, leastEscapedNs = 0.1, 6, 0.5e6
	// mayBlockShare of the repetitions may look by chance as if no thread could run at times.
	mayBlockShare = 0.25
)

// kind is what the repetitions of a benchmark show of its threads: whether they had to wait for a
// CPU, and how many of them could run at a time.
type kind struct {
	used []Repetition // whose times count
	at   []int        // the repetition of each of used
	cpus int          // that the benchmark may use

	waitShare    float64 // see Result.WaitShare
	waitPerTimed float64 // the wait of all threads beside the time by the timer; may be above 1
	runnable     float64 // how many threads could run, on average
	missing      float64 // share of the CPU time in which no thread could run, and the clock went on
	missingMost  float64 // what it may be, as threads that waited in vain may hide some

	escaped   bool // runnable, missing and missingMost are those of runs that hardly waited
	undelayed bool // nothing waited for a CPU
	blocks    bool // at times no thread could run
	mayBlock  bool // more than mayBlockShare of the repetitions look as if it did
	alone     bool // one thread at a time could run, all the time
	untimed   float64
	apart     bool // each call was timed by itself, as its loop stops the timer
}

// kindOf weighs the repetitions of a series that were not left out. What the tracer disturbs is
// weighed with it, and timed without it.
func kindOf(s *Series, cpus int, left []Rejection) kind {
	out := func(i int) bool {
		return slices.ContainsFunc(left, func(r Rejection) bool { return r.Repetition == i })
	}
	untraced := slices.ContainsFunc(s.Repetitions, func(rep Repetition) bool { return !rep.Traced })
	k := kind{cpus: max(1, cpus), waitShare: math.NaN(), waitPerTimed: math.NaN(), runnable: math.NaN()}
	var timed, wall, wait, cpu float64
	var missing []float64
	for i, rep := range s.Repetitions {
		if out(i) {
			continue
		}
		if rep.Traced && !math.IsNaN(rep.perIteration(waitNs)) {
			timed += rep.perIteration(timedNs)
			wall += rep.perIteration(wallNs)
			wait += rep.perIteration(waitNs)
			cpu += rep.perIteration(cpuNs)
			missing = append(missing, rep.perIteration(idleNs)/rep.perIteration(cpuNs))
		}
		if !s.slowedByTracing || !rep.Traced || !untraced {
			k.used, k.at = append(k.used, rep), append(k.at, i)
		}
	}
	if wall > 0 && timed > 0 {
		k.waitPerTimed = math.Max(0, wait/timed)
		k.waitShare, k.runnable = math.Max(0, wait/math.Max(wall, cpu+wait)), (cpu+wait)/wall
	}
	if calm := escapedRuns(s.Repetitions, out); len(calm) >= fewestEscaped {
		k.escaped, missing = true, nil
		var runnable []float64
		for _, o := range calm {
			missing = append(missing, idleNs(o)/o.CPUNs)
			runnable = append(runnable, (o.CPUNs+o.WaitNs)/o.WallNs)
		}
		slices.Sort(runnable)
		k.runnable = stats.Quantile(runnable, 0.25) // waits in vain only add
	}
	e := stats.MedianOrRange(missing, "")
	k.missing, k.missingMost = e.Value, e.Hi
	if s.Repetitions[0].Many.Procs == 1 { // then there are no such threads
		k.missingMost = e.Value
	}
	k.undelayed = k.waitPerTimed <= calmShare && runsWaitShare(s.Repetitions, out) <= calmRunShare
	k.blocks = !(e.Lo <= aloneWithin && e.Value <= 2*aloneWithin)
	slices.Sort(missing)
	k.mayBlock = !(stats.Quantile(missing, 1-mayBlockShare) <= aloneWithin)
	k.alone = !k.blocks && e.Hi >= -aloneWithin && e.Value >= -2*aloneWithin
	k.untimed = untimedOf(k.used)
	if k.apart = !slices.ContainsFunc(k.used, func(rep Repetition) bool { return rep.Few.Apart == nil || rep.Many.Apart == nil }); k.apart {
		k.waitPerTimed, k.undelayed = 0, true // the process waited outside of the timed parts, or a call is corrected
	}
	return k
}

// runsWaitShare is the share of their time that the threads of runs waited for a CPU, where processes
// look at their iterations alone. In a difference the waits of a short run may hide those of a long one.
func runsWaitShare(repetitions []Repetition, out func(int) bool) float64 {
	waited, wall := 0., 0.
	for i, rep := range repetitions {
		for _, o := range []Observation{rep.Few, rep.Many} {
			if !out(i) && o.alone() && !math.IsNaN(o.WaitNs) {
				waited, wall = waited+o.WaitNs, wall+o.WallNs
			}
		}
	}
	return waited / math.Max(1, wall)
}

// escapedRuns returns the quarter of the runs whose threads waited least for a CPU, of repetitions that
// are not out; none if these waited, too. A thread without work that is woken in vain waits as long as
// one with work, which hides how many of them had work. Where nobody waits that shows. Only a process
// that looks at its iterations alone tells it of a single run. Where garbage is collected in some runs,
// whose threads also work, runs without a collection don't count.
func escapedRuns(repetitions []Repetition, out func(int) bool) (calm []Observation) {
	collects := slices.ContainsFunc(repetitions, func(rep Repetition) bool { return rep.Many.Collections > 0 })
	for i, rep := range repetitions {
		for _, o := range []Observation{rep.Few, rep.Many} {
			if !out(i) && o.alone() && (!collects || o.Collections > 0) && o.CPUNs >= leastEscapedNs && o.WaitNs <= escapedShare*o.WallNs {
				calm = append(calm, o)
			}
		}
	}
	slices.SortStableFunc(calm, func(a, b Observation) int { return cmp.Compare(a.WaitNs/a.WallNs, b.WaitNs/b.WallNs) })
	return calm[:min(len(calm), max(fewestEscaped, len(repetitions)/2))]
}

// untimedOf is which part of the time of an iteration passes while the benchmark's timer stands
// still; 0 where that may be chance. It is at most 1, also where the timer's own differences
// came out negative.
func untimedOf(used []Repetition) float64 {
	e := stats.MedianOrRange(each(used, func(rep Repetition) float64 {
		return 1 - rep.perIteration(timedNs)/rep.perIteration(wallNs)
	}), "")
	if !(e.Lo > 0) {
		return 0
	}
	return math.Min(e.Value, 1)
}

// each is a figure of each repetition.
func each(used []Repetition, of func(Repetition) float64) []float64 {
	var all []float64
	for _, rep := range used {
		all = append(all, of(rep))
	}
	return all
}

func (k kind) typical(of func(Repetition) float64) float64 { return stats.Median(each(k.used, of)) }

// basis is what the figure rests on.
func (k kind) basis() Basis {
	switch {
	case k.apart:
		return Timer
	case k.alone && (!k.undelayed || k.missing > nothingMissing): // it waited, slept, or a hypervisor had the CPU
		return CPUTime
	case k.undelayed:
		return Timer
	}
	return Bounds
}

// bounds are those between which the time of an iteration lies, on a machine of its own.
type bounds struct{ lo, hi float64 }

// boundsOn are those of a repetition, interrupts included, by what it may rest on.
func (k kind) boundsOn(basis Basis, rep Repetition) bounds {
	if k.apart {
		low := rep.perIteration(func(o Observation) float64 { return o.apart().LowNs })
		high := rep.perIteration(func(o Observation) float64 { return o.apart().HighNs })
		return bounds{math.Min(low, high), math.Max(low, high)}
	}
	timed, wait := rep.perIteration(timedNs), k.waitedNs(rep)
	least, most := k.computingNs(rep)
	unwaited := timed - wait
	if math.IsNaN(wait) {
		unwaited = math.Inf(-1)
	}
	cpu := k.timedCPUNs(rep)
	var b bounds
	switch {
	case basis == Timer && k.alone && k.missing <= nothingMissing:
		b = bounds{unwaited, unwaited}
	case basis == Timer:
		b = bounds{unwaited, timed}
	case basis == Bounds && k.mayBlock: // several threads may have run at other times
		b = bounds{math.Max(unwaited, cpu/float64(k.cpus)), timed}
	case k.untimed > 0: // how much of the wait was timed is not known
		b = bounds{least, most}
	default:
		b = bounds{math.Max(least, math.Min(unwaited, cpu)), most}
	}
	return bounds{math.Min(b.lo, b.hi), b.hi}
}

// computingNs bounds for how long some thread of an iteration would run, if all were left alone:
// at most its CPU time, and at least that over the number of threads that could run at a time,
// since others may work beside the one that the benchmark waits for, such as the garbage
// collector's. Threads that waited in vain count as able to run, which lowers the bound.
func (k kind) computingNs(rep Repetition) (least, most float64) {
	cpu := k.timedCPUNs(rep)
	runnable := k.runnable
	if wait := rep.perIteration(waitNs); !k.escaped && rep.Traced && !math.IsNaN(wait) {
		runnable = (rep.perIteration(cpuNs) + wait) / (rep.perIteration(wallNs) - rep.perIteration(stoppedNs))
	}
	if !(runnable <= float64(k.cpus)) {
		runnable = float64(k.cpus)
	}
	if math.IsNaN(k.missingMost) { // a single repetition, or none whose waits are known
		return cpu / math.Max(1, runnable), math.Max(cpu, rep.perIteration(timedNs))
	}
	return cpu / math.Max(1, runnable), cpu * (1 + math.Max(0, k.missingMost))
}

// waitedNs is the time for which an iteration waited for a CPU: where that is not known of the
// repetition, as long as it usually did; NaN where that isn't known either.
func (k kind) waitedNs(rep Repetition) float64 {
	wait := rep.perIteration(waitNs)
	if !rep.Traced || math.IsNaN(wait) {
		wait = k.waitPerTimed * rep.perIteration(timedNs)
	}
	return math.Max(0, wait)
}

// timedCPUNs is the CPU time of the part of an iteration that is timed. Where the timer
// stands still for a part, its share of the time is taken for its share of the CPU time,
// repetition by repetition, so that chance in that shows in the interval.
func (k kind) timedCPUNs(rep Repetition) float64 {
	cpu := rep.perIteration(cpuNs)
	if k.untimed > 0 {
		cpu *= rep.perIteration(timedNs) / rep.perIteration(wallNs)
	}
	return cpu
}
