package kbest

import (
	"context"
	"io/fs"
	"math"
	"os"
	"runtime/metrics"
	"slices"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
)

// Setting is what the caller knows about the place of measurement. The zero value says nothing.
type Setting struct {
	// Clock to measure with; if it holds none, a counter is calibrated.
	Clock clock.Rated
}

// calibration is the time for which a counter is calibrated.
const calibration = 5 * time.Millisecond

// corrections says which corrections a test has switched off, to see their effect.
type corrections struct{ switches, surveys bool }

// Here returns the station of the calling goroutine. It locks the goroutine to its thread, opens the kernel's
// counts of that thread, calibrates a counter if none is given, and keeps the garbage collector from running
// within a trial. This lasts until release is called on the same goroutine: defer it, so that it is also called
// if a subject panics. What this machine does not offer is left out of the station. Here takes some 30 ms.
func Here(ctx context.Context, setting Setting) (station *Station, release func(), err error) {
	var undo []func()
	release = func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
		undo = nil
	}
	unlock, err := env.Thread()
	if err != nil {
		return nil, nil, err
	}
	undo = append(undo, unlock)
	s := &Station{Clock: setting.Clock, Pause: func(ctx context.Context, d time.Duration) { clock.Wait(ctx, d) }}
	if s.Clock.Clock == nil {
		if s.Clock, err = rated(ctx); err != nil {
			release()
			return nil, nil, err
		}
		undo = append(undo, func() { s.Clock.Close() })
	}
	if thread, err := machine.OpenThread(); err == nil {
		undo = append(undo, func() { thread.Close() })
		s.Use = thread.Look
	} else {
		s.uncounted = err
	}
	if counter, err := clock.Open("perf-cycles"); err == nil {
		undo = append(undo, func() { counter.Close() })
		s.Counted, s.CountedShare = counter.Read, counter.Running
	}
	s.Neighbours = s.watchNeighbours()
	undo = append(undo, s.askForTurns())
	s.Core = env.FollowCore(s.Clock)
	undo = append(undo, s.holdCollector())
	return s, release, nil
}

// watchNeighbours opens what the kernel tells of other processes; nil if it does not tell of all of them. If some are
// hidden, as in a container, or came and went unseen, /proc/stat gives the CPU time of all, in steps of 10 ms.
func (s *Station) watchNeighbours() func() Neighbours {
	root := os.DirFS("/")
	if s.Use == nil || !machine.StatIsWhole(root) {
		return nil
	}
	others, _ := process.OpenOthers()
	return s.neighbours(others, root)
}

// neighbours returns the function that tells of them; others is nil if some processes are hidden.
func (s *Station) neighbours(others *process.Others, root fs.FS) func() Neighbours {
	var before machine.CPUTimes
	var beforeNs int64
	last := time.Now()
	only := machine.HasOneCPU(root) // so that nothing runs elsewhere
	here, _ := machine.Affinity()
	if len(here) != 1 {
		here = nil
	}
	return func() (n Neighbours) {
		use, thread := others.Look(0, here), s.look().CPUNs
		times, err := machine.ReadCPUTimes(root, machine.AllCPUs)
		now := time.Now()
		ownNs := math.Max(0, float64(use.OwnNs-(thread-beforeNs)))
		n = Neighbours{OthersNs: float64(use.CPUNs) + ownNs, ElsewhereNs: float64(use.ElsewhereNs) + ownNs, PassedNs: float64(now.Sub(last)), Exact: use.Known}
		if !n.Exact && err == nil {
			n.OthersNs = times.Since(before).RanNs() - float64(thread-beforeNs)
			n.ElsewhereNs = n.OthersNs
		}
		if only {
			n.ElsewhereNs = 0
		}
		before, beforeNs, last = times, thread, now
		return n
	}
}

// rated opens the best available clock, and measures the cost of its readings.
func rated(ctx context.Context) (clock.Rated, error) {
	c, err := env.Open(ctx, calibration, env.Clocks()...)
	if err != nil {
		return c, err
	}
	if c, err = env.ReadingCost(c); err != nil {
		c.Close()
	}
	return c, err
}

// askForTurns finds out whether this thread may ask for long time slices. If so, it sets the station's Turns.
func (s *Station) askForTurns() (restore func()) {
	usual, err := machine.AskForTurns(machine.LongTurns)
	if err != nil {
		return func() {}
	}
	restore = func() { _, _ = machine.AskForTurns(usual) }
	restore()
	var asked bool
	s.Turns = func(long bool) {
		turns := usual
		if long {
			turns = machine.LongTurns
		}
		if long != asked {
			_, _ = machine.AskForTurns(turns) // what it really gets shows in the samples
		}
		asked = long
	}
	return restore
}

// mostGarbage is the number of bytes of garbage above which the collector runs between two trials. At eight times
// as much it runs within a trial, which is then rejected.
const mostGarbage = 128 << 20

// holdCollector lets the garbage collector run between trials only, unless a trial allocates more than the
// machine may have.
func (s *Station) holdCollector() (restore func()) {
	counted := func(name string) func() int64 {
		sample := []metrics.Sample{{Name: name}}
		return func() int64 {
			metrics.Read(sample)
			if sample[0].Value.Kind() != metrics.KindUint64 {
				return 0
			}
			return int64(sample[0].Value.Uint64())
		}
	}
	s.Collections, s.Allocated = counted("/gc/cycles/total:gc-cycles"), counted("/gc/heap/allocs:bytes")
	s.Settle, restore = machine.CollectBetween(mostGarbage)
	return restore
}
