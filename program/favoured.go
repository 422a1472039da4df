package program

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/repeat"
	"chronoscope/stats"
)

// favouredNice is the niceness with which others hardly take a program's CPU. favouredRuns is the least number of runs with
// it. More follow until their time is known as precisely as asked, or until they took favouredShare of the command's time
// limit. A run that takes favouredPatience times as long by the clock as the usual ones is ended, and is the last one.
const favouredNice, favouredRuns, favouredShare, favouredPatience = -20, 3, 0.4, 3

// favour makes more runs of the programs that had to wait for a CPU, in which others hardly keep them waiting, if this
// command may do so. Alone a program takes as long at any niceness. While others have its CPU, the caches lose its data, on
// a virtual machine also to other guests, and to refill them takes CPU time: up to 3 ms after each time slice of a
// competitor for programs of 16 to 64 MB on a KVM guest (Intel Xeon), although the competitors used no memory. How long it
// took by the clock, the usual runs tell. It does not matter if such a run fails.
func (m *measurement) favour(ctx context.Context) error {
	var waiting []int
	for i, s := range m.all {
		if s.command.Nice == 0 && m.setting.Nice == 0 && s.mostlyWaited(m.plan, favouredRuns) {
			waiting = append(waiting, i)
		}
	}
	for ; len(waiting) > 0; m.round++ {
		var next []int
		for _, i := range waiting {
			more := m.favourOnce(ctx, m.all[i]) && m.favourMore(m.all[i])
			if err := ctx.Err(); err != nil {
				return err
			}
			if m.tell(i); more {
				next = append(next, i)
			}
		}
		waiting = next
	}
	return nil
}

// fewLooksNs is a total length of looks at favouredNice, ten usual ones. After shorter looks, interrupts may also have taken
// as much as the usual looks saw.
const fewLooksNs = 250e6

// watchFavoured makes a look at the caller's CPU at favouredNice. An interrupt after which another thread gets the CPU is
// part of a preemption; at that niceness the thread goes on. Beside three endless loops interrupts took 0.3 % of the time
// of a usual look, and 0.7 % of one at favouredNice. Without that right it sees nothing. Competitors of another session keep
// it from the CPU as they keep a usual look, where the kernel shares the CPUs among sessions (sched_autogroup_enabled).
func (m *measurement) watchFavoured(ctx context.Context, span time.Duration) (n machine.Noise) {
	_ = process.AtNiceness(favouredNice, func() { n = m.setting.Watch(ctx, span) })
	return n
}

// favourOnce makes one more such run, and reports whether that was possible.
func (m *measurement) favourOnce(ctx context.Context, s *series) bool {
	if m.favouredChecks == nil && m.setting.Watch != nil {
		m.favouredChecks = &env.NoiseChecks{Watch: m.watchFavoured}
	}
	s.favouredChecks = m.favouredChecks
	s.favouredChecks.Look(ctx, s.command.CPUs)
	command := s.noting(false).within(favouredPatience * s.usualWall())
	command.Nice, command.OwnSession = favouredNice, true
	if m.settle != nil {
		m.settle()
	}
	began := time.Now()
	run, err := m.once(ctx, command, false)
	if ctx.Err() != nil || err != nil || run.WallNs == 0 {
		return false
	}
	s.take(ctx, &run, cpusOf(s.command, m.cpus))
	if ctx.Err() != nil { // the run may not have been followed to its end
		return false
	}
	s.favouredNs = append(s.favouredNs, float64(time.Since(began).Nanoseconds()))
	run.favoured, run.Rejected = !run.Rejected, true
	run.Why = append(run.Why, fmt.Sprintf("it had a niceness of %d, to see how long it takes where others hardly have its CPU", favouredNice))
	s.runs, s.rounds = append(s.runs, run), append(s.rounds, m.round)
	if run.noted {
		s.favoured = append(s.favoured, contendedRun{run.traced.ranNs, run.traced.deficientNs})
	}
	return true
}

// usualWall returns the median time of the runs that count, by the clock; 0 if there are none.
func (s *series) usualWall() time.Duration {
	var walls []float64
	for i := range s.runs {
		if r := &s.runs[i]; !r.Rejected {
			walls = append(walls, float64(r.WallNs))
		}
	}
	return time.Duration(known(stats.Median(walls)))
}

// favourMore reports whether more such runs are worth their time.
func (m *measurement) favourMore(s *series) bool {
	made := len(s.favouredNs)
	spentNs := slices.Max(s.favouredNs) // with the next one
	for _, ns := range s.favouredNs {
		spentNs += ns
	}
	switch {
	case made < favouredRuns:
		return true
	case s.precise || m.plan.ExactRuns || made >= m.plan.MaxRuns || spentNs > favouredShare*float64(m.plan.MaxTime):
		return false
	}
	return !repeat.Due(made, fewestFavoured, repeat.UsualGrowth) || conclude(s, m.plan, m.setting, m.checks).Estimate.RelativeHalfWidth() > m.plan.Precision
}

// hardlyKept is the largest share of the usual wait for a CPU at which a favoured run shows what the program does without
// waits. Control groups and sessions may divide the CPUs regardless of niceness. coldShare is the least share of the CPU
// time by which these runs have to differ. The core's rate may vary by more between them and the others, which then
// widens the interval.
const hardlyKept, coldShare = 0.5, 0.01

// coldSpread is how many times as long a favoured run may refill caches after a preemption as the usual runs do on average.
// fewerPreemptions is by how many preemptions these have to differ to tell how long that takes.
const coldSpread, fewerPreemptions = 1.5, 3

// mostColdOf returns the longest time for which a favoured run refills caches after a preemption: the usual runs, which
// are preempted more often and for longer, use that much more CPU time, or more by coldShare of it, since the machine may
// have changed in between. It is infinite if the runs don't tell.
func mostColdOf(runs []Run) float64 {
	usual, favoured := apart(runs)
	preemptions := func(of []*Run) float64 {
		return stats.Median(figures(of, func(r *Run) float64 { return float64(r.traced.preemptions) }))
	}
	fewer := preemptions(usual) - preemptions(favoured)
	if !(fewer >= fewerPreemptions) || len(favoured) < fewestChosen {
		return math.Inf(1)
	}
	a, b := median(figures(usual, (*Run).ranNs)), median(figures(favoured, (*Run).ranNs))
	return math.Max(machine.ColdNs, coldSpread*(a.Hi-b.Lo+coldShare*a.Value)/fewer)
}

// apart returns the usual runs that count, and the favoured ones.
func apart(runs []Run) (usual, favoured []*Run) {
	for i := range runs {
		switch r := &runs[i]; {
		case r.favoured:
			favoured = append(favoured, r)
		case !r.Rejected:
			usual = append(usual, r)
		}
	}
	return usual, favoured
}

// figures returns a figure of each run.
func figures(runs []*Run, of func(*Run) float64) (all []float64) {
	for _, r := range runs {
		all = append(all, of(r))
	}
	return all
}

// fewestFavoured is the least number of favoured runs on which an estimate may rest; for a program of several threads it
// is fewestCalm. mostColdShare is the largest share of its CPU time for which a program refills caches (node took 12 %
// beside three loops). If the usual runs use more, the favoured ones did something else.
const fewestFavoured, mostColdShare = 10, 0.2

// favouredTell reports whether the time alone may rest on the favoured runs: there are enough of them, they were kept from
// CPUs for clearly less time than the usual ones, used about as much CPU time, and hardly any usual one blocked for longer.
// Where the usual runs were recorded by tracepoints, these were, too.
func (c *conclusion) favouredTell() bool {
	usual, favoured := apart(c.Runs)
	least, several := fewestFavoured, func(r *Run) bool { return r.traced.threads > 1 }
	if slices.ContainsFunc(favoured, several) {
		least = fewestCalm
	}
	if len(favoured) < least || len(usual) == 0 {
		return false
	}
	typical := func(of []*Run, what func(*Run) float64) float64 { return stats.Median(figures(of, what)) }
	kept := func(r *Run) float64 { return r.traced.deficientNs }
	if !(typical(favoured, kept) <= hardlyKept*typical(usual, kept)) {
		return false
	}
	ran := typical(favoured, (*Run).ranNs) / typical(usual, (*Run).ranNs)
	if !(ran >= 1-mostColdShare && ran <= 1+agreeShare) {
		return false
	}
	recorded := func(r *Run) bool { return r.traced.heldUpKnown }
	return blockNoLonger(usual, favoured) && (!slices.ContainsFunc(usual, recorded) || slices.ContainsFunc(favoured, recorded))
}

// driftShare returns by how much the core's rate in the favoured runs differed from that in the usual ones, as a share.
func (c *conclusion) driftShare() float64 {
	usual, favoured := apart(c.Runs)
	hz := func(of []*Run) float64 {
		return stats.Median(slices.DeleteFunc(figures(of, func(r *Run) float64 { return r.CoreHz }), math.IsNaN))
	}
	return known(math.Abs(hz(favoured)/hz(usual) - 1))
}

// coldNs returns how much more CPU time the runs used than the favoured ones, in which the caches kept the program's data;
// 0 if that is within the scatter, or not known.
func (c *conclusion) coldNs() float64 {
	if c.favoured {
		return 0
	}
	var ran, kept []float64
	for _, r := range c.series.favoured {
		ran, kept = append(ran, r.ranNs), append(kept, r.waitedNs)
	}
	if len(ran) < 2 || stats.Median(kept) > hardlyKept*c.typical(func(r *Run) float64 { return r.traced.deficientNs }) {
		return 0
	}
	usual := c.typical(func(r *Run) float64 { return r.traced.ranNs })
	slices.Sort(ran) // also of a favoured run others may take the CPU now and then
	if more := usual - stats.Quantile(ran, 0.1); more > coldShare*usual {
		return more
	}
	return 0
}
