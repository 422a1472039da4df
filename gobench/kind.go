package gobench

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// Limits for classifying a benchmark.
const (
	// calmShare is the largest share of the time for which waiting does not matter.
	calmShare = 0.004
	// calmRunShare is the same limit for waiting in the runs themselves, rather than in the difference between
	// long and short ones.
	calmRunShare = 0.02
	// aloneWithin tells benchmarks of one thread from others. It limits the time without a runnable thread, or
	// with a second one, as a share of the CPU time. A bound of its interval has to be within aloneWithin, and
	// its median within twice that.
	aloneWithin = 0.04
	// nothingMissing is the largest time without a runnable thread that does not matter, as a share of the CPU
	// time.
	nothingMissing = 0.003
	// A run escaped contention if its threads waited for a CPU for at most escapedShare of its time. Runs with
	// less than leastEscapedNs of CPU time don't count. If there are fewestEscaped of these runs or more, they
	// tell how many threads were runnable.
	escapedShare, fewestEscaped, leastEscapedNs = 0.1, 6, 0.5e6
	// mayBlockShare is the share of the repetitions that by chance may look as if at times no thread was
	// runnable.
	mayBlockShare = 0.25
	// watchesItself is the largest share of its CPU time that the Go runtime uses to watch a benchmark of one
	// goroutine: 2 to 3 % in runs of 20 to 60 ms, on a virtual machine.
	watchesItself = 0.04
	// boundsDoubt is how many times as wide as bounds an interval by the clock may be and still be preferred.
	boundsDoubt = 2
)

// kind is what the repetitions of a benchmark show about its threads: whether they had to wait for a CPU, and
// how many were runnable at a time.
type kind struct {
	used []Repetition // the repetitions whose times count
	at   []int        // the index of each of them
	cpus int          // that the benchmark may use

	waitShare    float64 // see Result.WaitShare
	waitPerTimed float64 // the wait of all threads for other programs, divided by the time by the timer; may be above 1
	runnable     float64 // the mean number of runnable threads
	missing      float64 // the time without a runnable thread, as a share of the CPU time
	missingMost  float64 // its upper bound, as threads that were woken without work may hide some

	escaped    bool      // runnable, missing and missingMost come from runs that hardly waited
	undelayed  bool      // nothing waited for other programs
	clockTells bool      // its time by the clock is known better than by its CPU time
	byOthers   float64   // the part of the wait that other programs may have caused
	idle       []float64 // missing of each repetition, or of the runs that hardly waited, in order
	blocks     bool      // at times no thread was runnable
	mayBlock   bool      // more than mayBlockShare of the repetitions look as if it blocked
	alone      bool      // exactly one thread was runnable, all the time
	overlaps   bool      // threads ran at once: the CPU time of nearly all runs exceeds their time by the clock
	untimed    float64
	apart      bool // each call was timed by itself, as the loop stops the timer
	// othersAround is how many CPUs others used on average around the used repetitions, for runs of which that is not known; NaN
	// if unknown.
	othersAround float64
	ownTime      bool // it reports a time of its own that is not shorter than that of its iterations: its CPU time does not tell it
}

// kindOf classifies a benchmark by the repetitions that were not left out. If tracing slows it, the traced
// repetitions tell its kind, and only the others count for its time.
func kindOf(s *Series, cpus int, left []Rejection) kind {
	out := func(i int) bool {
		return slices.ContainsFunc(left, func(r Rejection) bool { return r.Repetition == i })
	}
	untraced := slices.ContainsFunc(s.Repetitions, func(rep Repetition) bool { return !rep.Traced })
	k := kind{cpus: max(1, cpus), waitShare: math.NaN(), waitPerTimed: math.NaN(), runnable: math.NaN()}
	var timed, wall, wait, delay, cpu float64
	var missing []float64
	for i, rep := range s.Repetitions {
		if out(i) {
			continue
		}
		if rep.Traced && !math.IsNaN(rep.perIteration(waitNs)) {
			timed += rep.perIteration(timedNs)
			wall += rep.perIteration(wallNs)
			wait += rep.perIteration(waitNs)
			delay += rep.perIteration(delayNs)
			cpu += rep.perIteration(cpuNs)
			missing = append(missing, rep.missing())
		}
		if !s.slowedByTracing || !rep.Traced || !untraced {
			k.used, k.at = append(k.used, rep), append(k.at, i)
		}
	}
	if wall > 0 && timed > 0 {
		k.waitPerTimed = math.Max(0, delay/timed)
		k.byOthers = 1
		if wait > 0 {
			k.byOthers = math.Max(0, math.Min(1, delay/wait))
		}
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
		k.runnable = stats.Quantile(runnable, 0.25) // threads that are woken without work only increase it
	}
	if !slices.ContainsFunc(k.used, func(rep Repetition) bool { return !rep.single() }) {
		k.runnable = math.Min(k.runnable, 1/(1-watchesItself))
	}
	k.othersAround = othersAround(k.used)
	e := stats.MedianOrRange(missing, "")
	k.missing, k.missingMost = e.Value, e.Hi
	if s.Repetitions[0].Many.Procs == 1 { // with one, no thread is woken without work
		k.missingMost = e.Value
	}
	k.undelayed = k.waitPerTimed <= calmShare && runsDelayShare(s.Repetitions, out) <= calmRunShare
	k.blocks = !(e.Lo <= aloneWithin && e.Value <= 2*aloneWithin)
	slices.Sort(missing)
	k.idle, k.mayBlock = missing, !(stats.Quantile(missing, 1-mayBlockShare) <= aloneWithin)
	k.alone = !k.blocks && e.Hi >= -aloneWithin && e.Value >= -2*aloneWithin
	k.untimed = untimedOf(k.used)
	if k.apart = !slices.ContainsFunc(k.used, func(rep Repetition) bool { return rep.Few.Apart == nil || rep.Many.Apart == nil }); k.apart {
		k.waitPerTimed, k.undelayed = 0, true // waits were outside of the timed parts, or the calls are corrected for them
	}
	k.ownTime = k.untimed == 0 && slices.ContainsFunc(k.used, func(rep Repetition) bool { return rep.Few.OwnTime || rep.Many.OwnTime })
	atOnce := each(k.used, func(rep Repetition) float64 { return rep.Many.CPUNs / rep.Many.WallNs })
	slices.Sort(atOnce)
	k.overlaps = stats.Quantile(atOnce, strayShare) > 1
	k.clockTells = !k.undelayed && k.clockBeats(k.basis())
	return k
}

// blockingShare returns the share of the repetitions that look as if the benchmark blocked.
func blockingShare(idle []float64) float64 {
	blocking := 0
	for _, share := range idle {
		if !(share <= aloneWithin) {
			blocking++
		}
	}
	return float64(blocking) / math.Max(1, float64(len(idle)))
}

// missing returns the time without a runnable thread in a repetition, as a share of the CPU time. Threads that wait in
// vain hide such time, and if they do so in the shorter run, the difference of both runs shows some where there is none.
// So the longer run has to show it, too, if its counters are those of its iterations.
func (r Repetition) missing() float64 {
	share := r.perIteration(idleNs) / r.perIteration(cpuNs)
	if r.Many.alone() {
		share = math.Min(share, idleNs(r.Many)/r.Many.CPUNs)
	}
	return share
}

// runsDelayShare returns the share of the time of runs for which their threads waited for other programs, of
// processes that read their own counters. In a difference, the waits of a short run may hide those of a long one.
func runsDelayShare(repetitions []Repetition, out func(int) bool) float64 {
	waited, wall := 0., 0.
	for i, rep := range repetitions {
		for _, o := range []Observation{rep.Few, rep.Many} {
			if !out(i) && o.alone() && !math.IsNaN(o.WaitNs) {
				waited, wall = waited+delayNs(o), wall+o.WallNs
			}
		}
	}
	return waited / math.Max(1, wall)
}

// escapedRuns returns the quarter of the runs whose threads waited least for a CPU, without runs in which they
// waited for more than escapedShare of the time. It ignores repetitions that are left out. A thread that is
// woken without work waits as long as a thread with work, which hides how many had work. If no thread waits,
// their number shows. Only a process that reads its own counters tells this for a single run. If garbage is
// collected in some runs, only these count, since the collector's threads work too.
func escapedRuns(repetitions []Repetition, out func(int) bool) (calm []Observation) {
	return calmestRuns(repetitions, escapedShare, out)
}

// calmestRuns returns those of the runs in which threads waited least that waited for no more than a share of their time.
func calmestRuns(repetitions []Repetition, mostWaited float64, out func(int) bool) (calm []Observation) {
	collects := slices.ContainsFunc(repetitions, func(rep Repetition) bool { return rep.Many.Collections > 0 })
	for i, rep := range repetitions {
		for _, o := range []Observation{rep.Few, rep.Many} {
			if !out(i) && o.alone() && (!collects || o.Collections > 0) && o.CPUNs >= leastEscapedNs && o.WaitNs <= mostWaited*o.WallNs {
				calm = append(calm, o)
			}
		}
	}
	slices.SortStableFunc(calm, func(a, b Observation) int { return cmp.Compare(a.WaitNs/a.WallNs, b.WaitNs/b.WallNs) })
	return calm[:min(len(calm), max(fewestEscaped, len(repetitions)/2))]
}

// untimedOf returns the share of an iteration's time that passes while the benchmark's timer stands still; 0 if
// that may be chance. It is at most 1, even if the timer's own differences are negative.
func untimedOf(used []Repetition) float64 {
	e := stats.MedianOrRange(each(used, func(rep Repetition) float64 {
		return 1 - rep.perIteration(timedNs)/rep.perIteration(wallNs)
	}), "")
	if !(e.Lo > 0) {
		return 0
	}
	return math.Min(e.Value, 1)
}

// each returns a figure of each repetition.
func each(used []Repetition, of func(Repetition) float64) []float64 {
	var all []float64
	for _, rep := range used {
		all = append(all, of(rep))
	}
	return all
}

func (k kind) typical(of func(Repetition) float64) float64 { return stats.Median(each(k.used, of)) }

// basis returns the basis of the figure.
func (k kind) basis() Basis {
	switch {
	case k.apart, k.ownTime:
		return Timer
	case k.alone && (!k.byClock() || k.missing > nothingMissing): // it waited, slept, or a hypervisor had the CPU
		return CPUTime
	case k.byClock():
		return Timer
	}
	return Bounds
}

// byClock reports whether the time by the clock tells the time on a machine of its own.
func (k kind) byClock() bool { return k.undelayed || k.clockTells }

// bounds are the limits between which the time of an iteration lies, on a machine of its own.
type bounds struct{ lo, hi float64 }

// boundsOn returns the bounds of a repetition on a basis, interrupts included.
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
	case basis == Timer && k.undelayed && !k.mayBlock && k.alone && k.missing <= nothingMissing:
		b = bounds{unwaited, unwaited}
	case basis == Timer && k.undelayed && !k.mayBlock:
		b = bounds{unwaited, timed}
	case basis == Timer: // a delay of the shorter run shortens the difference
		b = bounds{timed - k.delayedNs(rep.Many)/rep.iterations(), timed + k.delayedNs(rep.Few)/rep.iterations()}
		if k.mayBlock { // without delays it still has to compute
			b.lo = math.Max(b.lo, cpu/float64(k.cpus))
		}
	case basis == Bounds && k.mayBlock: // at other times several threads may have run
		b = bounds{math.Max(unwaited, cpu/float64(k.cpus)), timed}
	default:
		b = bounds{math.Max(least, math.Min(unwaited, cpu)), most}
		if k.overlaps {
			b.hi = timed
		}
	}
	return bounds{math.Min(b.lo, b.hi), b.hi}
}

// clockBeats reports whether the interval of the time is narrower by the clock than on another basis. The clock's
// interval includes the delays that other programs may have caused. Bounds rest on an estimated number of threads that
// ran at a time. So if others hardly delayed the runs, the clock may be up to boundsDoubt times as wide as bounds.
func (k kind) clockBeats(other Basis) bool {
	doubt := 1.
	if other == Bounds && k.waitPerTimed <= calmRunShare {
		doubt = boundsDoubt
	}
	return k.widthOn(Timer) < doubt*k.widthOn(other)
}

// widthOn returns how wide the interval of the time is on a basis; infinite if it is not known.
func (k kind) widthOn(basis Basis) float64 {
	var low, high []float64
	for _, rep := range k.used {
		b := k.boundsOn(basis, rep)
		low, high = append(low, b.lo), append(high, b.hi)
	}
	width := stats.MedianOrRange(high, "").Hi - stats.MedianOrRange(low, "").Lo
	if math.IsNaN(width) {
		return math.Inf(1)
	}
	return width
}

// computingNs bounds the time for which some thread of an iteration would run if nothing else wanted the CPUs.
// It is at most the iteration's CPU time. It is at least the CPU time divided by the number of runnable
// threads: some of them, such as the garbage collector's, work while the benchmark does not wait for them. Threads
// that were woken without work count as runnable, which lowers the bound. A single goroutine uses all of the CPU
// time except what the Go runtime uses to watch itself.
func (k kind) computingNs(rep Repetition) (least, most float64) {
	cpu := k.timedCPUNs(rep)
	runnable := k.runnable
	if wait := rep.perIteration(waitNs); !k.escaped && rep.Traced && !math.IsNaN(wait) {
		runnable = (rep.perIteration(cpuNs) + wait) / (rep.perIteration(wallNs) - rep.perIteration(stoppedNs))
	}
	switch {
	case rep.single():
		runnable = 1 / (1 - watchesItself)
	case !(runnable <= float64(k.cpus)):
		runnable = float64(k.cpus)
	}
	if math.IsNaN(k.missingMost) { // there is a single repetition, or no wait is known
		return cpu / math.Max(1, runnable), math.Max(cpu, rep.perIteration(timedNs))
	}
	return cpu / math.Max(1, runnable), cpu * (1 + math.Max(0, k.missingMost))
}

// waitedNs returns how long an iteration waited for CPUs that others may have had. If that is unknown for the
// repetition, it returns the usual wait; NaN if that is unknown too.
func (k kind) waitedNs(rep Repetition) float64 {
	wait := rep.perIteration(delayNs)
	if !rep.Traced || math.IsNaN(wait) {
		wait = k.waitPerTimed * rep.perIteration(timedNs)
	}
	return math.Max(0, wait)
}

// delayedNs returns how long other programs may have delayed a run: its wait for a CPU, or the usual wait if that is
// unknown. A benchmark that blocks may also have waited for another process, such as a server, while others had that
// process's CPU: for all of their CPU time, but at most for the time in which the run did not compute.
func (k kind) delayedNs(o Observation) float64 {
	ns := delayNs(o)
	if math.IsNaN(ns) {
		ns = k.waitPerTimed * o.TimedNs
	}
	if math.IsNaN(o.OthersNs) {
		o.OthersNs = k.othersAround * o.WallNs
	}
	if most := math.Min(o.OthersNs, o.WallNs-o.CPUNs/float64(k.cpus)); k.mayBlock && most > ns {
		return most
	}
	return ns
}

// timedCPUNs returns the CPU time of the timed part of an iteration. If the timer stands still for a part, its
// share of the time is taken for its share of the CPU time. This is done for each repetition, so that the
// interval shows chance in it.
func (k kind) timedCPUNs(rep Repetition) float64 {
	cpu := rep.perIteration(cpuNs)
	if k.untimed > 0 {
		cpu *= rep.perIteration(timedNs) / rep.perIteration(wallNs)
	}
	return cpu
}
