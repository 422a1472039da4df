package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// truth is the time that a program takes alone: from exec to exit of its runs, by the kernel's events, minus
// the part of its time on the CPU that interrupts and a hypervisor took.
type truth struct {
	cpu   int
	watch func(context.Context, time.Duration) machine.Noise

	// lows and highs bound the times of the runs, without stolen time. cpus has their CPU times.
	lows, highs, cpus []float64
	// lostNs is the time that interrupts took while the CPU was watched, for watchedNs in all.
	lostNs, watchedNs float64
	watchedAt         time.Time
}

const (
	// fewestTruths is the smallest number of runs that bounds a median.
	fewestTruths = 6
	// A run was alone if it waited for a CPU for at most undisturbed, a share of its time, and startNs for the
	// wait before the exec.
	undisturbed, startNs = 0.01, 0.3e6
	// watching is how long the CPU is watched at a time, watchAfter the pause until it is watched again.
	watching, watchAfter = 25 * time.Millisecond, 250 * time.Millisecond
	// noiseError is how much interrupts may differ from those watched, as a share.
	noiseError = 0.3
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
	if t.watch == nil || time.Since(t.watchedAt) < watchAfter {
		return
	}
	restore, err := machine.Pin([]int{t.cpu})
	if err != nil {
		return
	}
	noise := t.watch(ctx, watching)
	_ = restore()
	t.lostNs, t.watchedNs = t.lostNs+noise.ShareLost()*noise.WatchedNs, t.watchedNs+noise.WatchedNs
	t.watchedAt = time.Now()
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
	lost := 0.0
	if t.watchedNs > 0 {
		lost = stats.Median(t.cpus) * t.lostNs / t.watchedNs
	}
	e := low
	e.Value, e.Lo, e.Hi = (low.Value+high.Value)/2-lost, low.Lo-(1+noiseError)*lost, high.Hi-(1-noiseError)*lost
	return e, errors.Join(err, errHigh)
}
