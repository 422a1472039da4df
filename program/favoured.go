package program

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chronoscope/stats"
)

// favouredRuns is the number of runs at favouredNice, the niceness with which others hardly take a program's CPU.
const favouredRuns, favouredNice = 3, -20

// favour makes more runs of a program that had to wait for a CPU, in which others hardly keep it waiting, if this command
// may do so. These runs don't count. While others have its CPU, the caches lose its data, on a virtual machine also to
// other guests, and to refill them takes CPU time: up to 3 ms after each time slice of a competitor for programs of 16
// to 64 MB on a KVM guest (Intel Xeon), although the competitors used no memory. It does not matter if such a run fails.
func (m *measurement) favour(ctx context.Context, s *series) error {
	command := s.command
	if command.Nice != 0 || m.setting.Nice != 0 || !s.mostlyWaited(m.plan, favouredRuns) {
		return nil
	}
	command.Nice, command.OwnSession = favouredNice, true
	limited, cancel := context.WithTimeout(ctx, time.Duration(contendedShare*float64(m.plan.MaxTime)))
	defer cancel()
	for range favouredRuns {
		run, err := m.once(limited, command, false)
		if limited.Err() != nil || err != nil || run.WallNs == 0 {
			return ctx.Err()
		}
		s.take(ctx, &run, cpusOf(s.command, m.cpus))
		run.Rejected = true
		run.Why = append(run.Why, fmt.Sprintf("it had a niceness of %d, to see whether it uses less CPU time where others hardly have its CPU", favouredNice))
		s.runs, s.rounds = append(s.runs, run), append(s.rounds, m.round)
		if run.noted {
			s.favoured = append(s.favoured, contendedRun{run.traced.ranNs, run.traced.deficientNs})
		}
	}
	return nil
}

// hardlyKept is the largest share of the usual wait for a CPU at which a favoured run shows what the program does without
// waits. Control groups and sessions may divide the CPUs regardless of niceness. coldShare is the least share of the CPU
// time by which these runs have to differ. The core's rate may vary by more between them and the others, which then
// widens the interval.
const hardlyKept, coldShare = 0.5, 0.01

// coldNs returns how much more CPU time the runs used than the favoured ones, in which the caches kept the program's data;
// 0 if that is within the scatter, or not known.
func (c *conclusion) coldNs() float64 {
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
