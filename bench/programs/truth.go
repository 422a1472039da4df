package main

import (
	"context"
	"errors"
	"slices"

	"chronoscope/bench/internal/cprogram"
	"chronoscope/process"
	"chronoscope/stats"
)

// truth is the time that a program takes alone: from exec to exit of its runs, by the kernel's events, minus
// the part of its time on the CPU that interrupts and a hypervisor took.
type truth struct {
	cpu    int
	losses cprogram.Losses

	// lows and highs bound the times of the runs, without stolen time. cpus has their CPU times.
	lows, highs, cpus []float64
}

const (
	// fewestTruths is the smallest number of runs that bounds a median.
	fewestTruths = 6
	// A run was alone if it waited for a CPU for at most undisturbed, a share of its time, and startNs for the
	// wait before the exec.
	undisturbed, startNs = 0.01, 0.3e6
)

// add adds a run, unless other programs kept it waiting.
func (t *truth) add(ctx context.Context, run process.Run) {
	ran := walk(run.Events)
	most := undisturbed*float64(run.WallNs) + startNs
	if float64(ran.keptNs) <= most && float64(run.WaitNs()) <= most {
		// CPU time charged before the exec makes the difference smaller, never larger.
		high := run.WallNs - max(0, ran.ns-run.CPUNs())
		low := high - ran.keptNs
		if !ran.blocked { // no sleep can have hidden a wait
			high = low
		}
		t.lows, t.highs = append(t.lows, float64(low)), append(t.highs, float64(high))
		t.cpus = append(t.cpus, float64(run.CPUNs()))
	}
	t.losses.Look(ctx, t.cpu)
}

// ran is how long a program had its CPU, how long others kept it from its CPU, and whether it ever gave it up.
type ran struct {
	ns, keptNs int64
	blocked    bool
}

func walk(events []process.Event) (r ran) {
	var since int64
	running, preempted := false, false
	for _, e := range events {
		at := max(0, e.AtNs)
		switch e.Kind {
		case process.SwitchedIn:
			if preempted {
				r.keptNs += at - since
			}
			running, preempted, since = true, false, at
		case process.Preempted, process.Blocked, process.Exited:
			if running {
				r.ns += at - since
			}
			r.blocked = r.blocked || e.Kind == process.Blocked && e.AtNs > 0
			running, preempted, since = false, e.Kind == process.Preempted, at
		}
	}
	return r
}

// estimate returns the median time of the runs.
func (t *truth) estimate() (stats.Estimate, error) {
	if len(t.lows) < fewestTruths {
		return stats.Estimate{}, errors.New("too few runs were alone")
	}
	slices.Sort(t.lows)
	slices.Sort(t.highs)
	low, _, err := stats.QuantileInterval(t.lows, 0.5, "ns")
	high, _, errHigh := stats.QuantileInterval(t.highs, 0.5, "ns")
	share, least, most := t.losses.Share()
	cpu := stats.Median(t.cpus)
	e := low
	e.Value, e.Lo, e.Hi = (low.Value+high.Value)/2-share*cpu, low.Lo-most*cpu, high.Hi-least*cpu
	return e, errors.Join(err, errHigh)
}
