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

// loop is the program that competes with contended runs. It belongs to the same session as the program, so that
// it takes half of the program's share also where the kernel groups processes by sessions (sched(7),
// autogroup).
var loop = process.Command{Path: "sh", Args: []string{"-c", "while :; do :; done"}, Untraced: true}

// compete keeps n of the CPUs busy until stop is called, as far as the system lets it.
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

// contendedRun is a run beside loops of this command: its CPU time by the kernel's notes, and how long it
// was kept from a CPU.
type contendedRun struct{ ranNs, waitedNs float64 }

// contendedRuns are made: the loops may not all have begun in the first one. contendedShare of the time
// that a command may take is what they may take at most, and contendedSlower how much longer each of
// them takes than other runs.
const contendedRuns, contendedShare, contendedSlower = 2, 0.25, 2.5

// contend makes more runs of a program that had to wait for a CPU, beside loops that have it wait for
// longer. They don't count. A program that works until some time uses less CPU time in them, however
// it learns the time: by a file, or by an answer from outside. That such a run fails, or exceeds its
// time-out, does not matter.
func (m *measurement) contend(ctx context.Context, s *series) error {
	if m.compete == nil || !s.worthContending(m.plan) {
		return nil
	}
	cpus := cpusOf(s.command, m.cpus)
	defer m.compete(s.command.CPUs, cpus)()
	// Loops take nearly all of the time of a program of a high niceness, or of the policy SCHED_IDLE.
	limited, cancel := context.WithTimeout(ctx, time.Duration(contendedShare*float64(m.plan.MaxTime)))
	defer cancel()
	for range contendedRuns {
		run, err := m.once(limited, s.command, false)
		if limited.Err() != nil || err != nil || run.WallNs == 0 {
			return ctx.Err()
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

// worthContending tells whether what the program did may have depended on its waits.
func (s *series) worthContending(plan Plan) bool {
	waited, counted := 0, s.counted()
	for i := range s.runs {
		if r := &s.runs[i]; !r.Rejected && r.waited() {
			waited++
		}
	}
	expectedNs := contendedRuns * contendedSlower * s.spentNs / float64(max(1, len(s.runs)))
	return s.failure == nil && s.starved == nil && !s.several && counted >= fewestChosen && 2*waited > counted && expectedNs <= contendedShare*float64(plan.MaxTime)
}

// contendedLess and contendedMore of the CPU time that nine in ten of the other runs exceed, or stay
// below, is less or more than the same work takes, if it differs by more than sameCPUNs.
const contendedLess, contendedMore, exceeded = 0.9, 1.25, 0.1

// workContended tells whether it used less CPU time beside the loops of this command than in nearly all
// runs that count, or more.
func (c *conclusion) workContended() (less, more bool) {
	if len(c.series.contended) == 0 {
		return false, false
	}
	ran := slices.Sorted(slices.Values(c.each(func(r *Run) float64 { return r.traced.ranNs })))
	least := slices.MinFunc(c.series.contended, func(a, b contendedRun) int { return cmp.Compare(a.ranNs, b.ranNs) }).ranNs
	few, many := stats.Quantile(ran, exceeded), stats.Quantile(ran, 1-exceeded)
	return least < math.Min(contendedLess*few, few-sameCPUNs), least > math.Max(contendedMore*many, many+sameCPUNs)
}

// clearlyLonger is how much longer than usual a contended run waits, at least, to tell what waiting does.
const clearlyLonger = 1.1

// refutes tells whether the contended run that waited longest used less than half of the CPU time that
// a slope of CPU time over waiting adds for its longer wait. Where the host's speed varies, waiting
// follows CPU time: whoever computes for longer is preempted more often.
func (c *conclusion) refutes(slope float64, waits, ran []float64) bool {
	if len(c.series.contended) == 0 {
		return false
	}
	longest := slices.MaxFunc(c.series.contended, func(a, b contendedRun) int { return cmp.Compare(a.waitedNs, b.waitedNs) })
	usual := stats.Median(waits)
	return longest.waitedNs > clearlyLonger*usual && longest.ranNs < stats.Median(ran)+slope/2*(longest.waitedNs-usual)
}
