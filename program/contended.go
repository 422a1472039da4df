package program

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"chronoscope/process"
	"chronoscope/stats"
)

// loop is the program that competes with contended runs. It belongs to the same session as the measured program, so
// that it takes half of that program's share even if the kernel groups processes by sessions (sched(7), autogroup).
var loop = process.Command{Path: "sh", Args: []string{"-c", "while :; do :; done"}, Untraced: true}

// compete keeps n of the CPUs busy until stop is called, if the system allows it.
func compete(cpus []int, n int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	for range n {
		go func() {
			c := loop
			c.CPUs = cpus
			c.Run(ctx)
			ended <- struct{}{}
		}()
	}
	return func() {
		cancel()
		for range n {
			<-ended
		}
	}
}

// contendedRun is a run beside competing loops: its CPU time by the kernel's events, and the time for which it was kept
// from a CPU.
type contendedRun struct{ ranNs, waitedNs float64 }

// contendedRuns is the number of runs beside loops: in the first one not all loops may have begun. contendedShare is
// the largest share of a command's time limit that these runs may take. contendedSlower is the expected ratio of their
// length to that of other runs, and contendedPatience the ratio at which they are ended, though not before leastPatience: a
// competitor may have a CPU for some milliseconds at a time.
const (
	contendedRuns, contendedShare, contendedSlower, contendedPatience = 2, 0.25, 2.5, 10

	leastPatience = 500 * time.Millisecond
)

// contend makes more runs of a program that had to wait for a CPU, beside loops that make it wait longer. These runs
// don't count. A program that works until some time uses less CPU time in them, no matter how it learns the time, for
// example from a file or from an answer from outside. It does not matter if such a run fails or exceeds its time-out.
func (m *measurement) contend(ctx context.Context, s *series) error {
	if m.compete == nil || s.several || !s.mostlyWaited(m.plan, contendedRuns*contendedSlower) {
		return nil
	}
	cpus := cpusOf(s.command, m.cpus)
	defer m.compete(s.command.CPUs, cpus)()
	// Beside the loops, a program of a high niceness or of the policy SCHED_IDLE gets hardly any CPU time. So these
	// runs have a time limit.
	patience := max(contendedPatience*s.usualWall(), leastPatience)
	command := s.command.within(min(patience, time.Duration(contendedShare/contendedRuns*float64(m.plan.MaxTime))))
	for range contendedRuns {
		run, err := m.once(ctx, command, false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || run.WallNs == 0 {
			continue
		}
		s.take(ctx, &run, cpus)
		run.Rejected = true
		run.Why = append(run.Why, "this command competed with it, to see whether it does less where it waits for longer")
		s.runs, s.rounds = append(s.runs, run), append(s.rounds, m.round)
		if run.noted {
			s.contended = append(s.contended, contendedRun{run.traced.ranNs, run.traced.deficientNs})
		}
	}
	return nil
}

// mostlyWaited reports whether the program waited for a CPU in more than half of its runs, and whether times the mean
// cost of a run is at most contendedShare of plan.MaxTime. It is false if too few runs count, or if the program failed
// or starved.
func (s *series) mostlyWaited(plan Plan, times float64) bool {
	waited, counted := 0, s.counted()
	for i := range s.runs {
		if r := &s.runs[i]; !r.Rejected && r.waited() {
			waited++
		}
	}
	expectedNs := times * s.spentNs / float64(max(1, len(s.runs)))
	return s.failure == nil && s.starved == nil && counted >= fewestChosen && 2*waited > counted && expectedNs <= contendedShare*float64(plan.MaxTime)
}

// A contended run did less work if its CPU time is below contendedLess times the 10th percentile of the other runs' CPU
// times. Contended runs did more work if all are above contendedMore times the 90th percentile. exceeded is that 10 %.
// The difference also has to be more than sameCPUNs.
const contendedLess, contendedMore, exceeded = 0.9, 1.25, 0.1

// workContended reports whether one of the contended runs used less CPU time than nearly all runs that count, or
// whether all of them used more.
func (c *conclusion) workContended() (less, more bool) {
	if len(c.series.contended) == 0 {
		return false, false
	}
	ran := slices.Sorted(slices.Values(c.each(func(r *Run) float64 { return r.traced.ranNs })))
	least := slices.MinFunc(c.series.contended, func(a, b contendedRun) int { return cmp.Compare(a.ranNs, b.ranNs) }).ranNs
	few, many := stats.Quantile(ran, exceeded), stats.Quantile(ran, 1-exceeded)
	return least < math.Min(contendedLess*few, few-sameCPUNs), least > math.Max(contendedMore*many, many+sameCPUNs)
}

// clearlyLonger is the least ratio of a contended run's wait to the usual wait at which it shows what waiting does.
const clearlyLonger = 1.1

// refutes reports whether the contended run that waited longest contradicts a slope of CPU time over waiting. It does
// if it waited clearly longer than the median run, but exceeded the median CPU time by less than half of what the slope
// predicts for that. A slope arises also if the host's speed varies: a program that runs for longer is preempted more
// often, so that waits follow CPU time and not the reverse.
func (c *conclusion) refutes(slope float64, waits, ran []float64) bool {
	if len(c.series.contended) == 0 {
		return false
	}
	longest := slices.MaxFunc(c.series.contended, func(a, b contendedRun) int { return cmp.Compare(a.waitedNs, b.waitedNs) })
	usual := stats.Median(waits)
	return longest.waitedNs > clearlyLonger*usual && longest.ranNs < stats.Median(ran)+slope/2*(longest.waitedNs-usual)
}
