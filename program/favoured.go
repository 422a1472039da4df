package program

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/repeat"
	"chronoscope/stats"
)

// favouredNice is the niceness with which others hardly take a program's CPU. favouredRuns is the least number of runs with
// it. More follow until their time is known as precisely as asked, or until they took favouredShare of the command's time
// limit.
const favouredNice, favouredRuns, favouredShare = -20, 3, 0.4

// favour makes more runs of the programs that had to wait for a CPU, in which others hardly keep them waiting, if this
// command may do so. Alone a program takes as long at any niceness. While others have its CPU, the caches lose its data, on
// a virtual machine also to other guests, and to refill them takes CPU time: up to 3 ms after each time slice of a
// competitor for programs of 16 to 64 MB on a KVM guest (Intel Xeon), although the competitors used no memory. How long it
// took by the clock, the usual runs tell. It does not matter if such a run fails.
func (m *measurement) favour(ctx context.Context) error {
	var waiting []*series
	for _, s := range m.all {
		if s.command.Nice == 0 && m.setting.Nice == 0 && s.mostlyWaited(m.plan, favouredRuns) {
			waiting = append(waiting, s)
		}
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(favouredShare*float64(m.plan.MaxTime)*float64(len(waiting))))
	defer cancel()
	for ; len(waiting) > 0; m.round++ {
		var next []*series
		for _, s := range waiting {
			if m.favourOnce(limited, s) && m.favourMore(s) {
				next = append(next, s)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		waiting = next
	}
	return nil
}

// favourOnce makes one more such run, and reports whether that was possible.
func (m *measurement) favourOnce(ctx context.Context, s *series) bool {
	command := s.command
	command.Nice, command.OwnSession = favouredNice, true
	if m.settle != nil {
		m.settle()
	}
	began := time.Now()
	run, err := m.once(ctx, command, false)
	s.favouredNs += float64(time.Since(began).Nanoseconds())
	if ctx.Err() != nil || err != nil || run.WallNs == 0 {
		return false
	}
	s.take(ctx, &run, cpusOf(s.command, m.cpus))
	run.favoured, run.Rejected = !run.Rejected, true
	run.Why = append(run.Why, fmt.Sprintf("it had a niceness of %d, to see how long it takes where others hardly have its CPU", favouredNice))
	s.runs, s.rounds = append(s.runs, run), append(s.rounds, m.round)
	if run.noted {
		s.favoured = append(s.favoured, contendedRun{run.traced.ranNs, run.traced.deficientNs})
	}
	return true
}

// favourMore reports whether more such runs are worth their time.
func (m *measurement) favourMore(s *series) bool {
	made := 0
	for i := range s.runs {
		if s.runs[i].favoured {
			made++
		}
	}
	switch {
	case made < favouredRuns:
		return true
	case s.precise || m.plan.ExactRuns || made >= m.plan.MaxRuns || s.favouredNs > favouredShare*float64(m.plan.MaxTime):
		return false
	}
	return !repeat.Due(made, fewestChosen, repeat.UsualGrowth) || conclude(s, m.plan, m.setting, m.checks).Estimate.RelativeHalfWidth() > m.plan.Precision
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
// are preempted more often and for longer, use that much more CPU time. It is infinite if the runs don't tell.
func mostColdOf(runs []Run) float64 {
	var ranNs, preemptions [2][]float64 // of the usual runs, and of the favoured ones
	for i := range runs {
		r, which := &runs[i], 0
		switch {
		case !r.noted || r.Rejected && !r.favoured:
			continue
		case r.favoured:
			which = 1
		}
		ranNs[which] = append(ranNs[which], r.traced.ranNs)
		preemptions[which] = append(preemptions[which], float64(r.traced.preemptions))
	}
	more := stats.Median(preemptions[0]) - stats.Median(preemptions[1])
	if !(more >= fewerPreemptions) || len(ranNs[1]) < fewestChosen {
		return math.Inf(1)
	}
	return math.Max(machine.ColdNs, coldSpread*(median(ranNs[0]).Hi-median(ranNs[1]).Lo)/more)
}

// hardlyKept reports whether these favoured runs were kept from CPUs for clearly less time than the usual ones.
func (c *conclusion) hardlyKept(favoured []*Run) bool {
	var kept, usual []float64
	for _, r := range favoured {
		kept = append(kept, r.traced.deficientNs)
	}
	for i := range c.Runs {
		if r := &c.Runs[i]; !r.Rejected {
			usual = append(usual, r.traced.deficientNs)
		}
	}
	return stats.Median(kept) <= hardlyKept*stats.Median(usual)
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
	if more := usual - slices.Min(ran); more > coldShare*usual { // also of a favoured run others may take the CPU now and then
		return more
	}
	return 0
}
