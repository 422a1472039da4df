package env

import (
	"context"
	"math"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

const (
	// stretchLength is how long the CPU is watched between two looks at the kernel's counters.
	stretchLength = 500 * time.Microsecond
	// gapNs is the least step between two readings that counts as a gap.
	gapNs = 200
	// sweepNs is the least time for which another thread has to have a CPU to displace much of what its caches hold.
	sweepNs = 100e3
	// mostSwitchNs is the longest time that a preemption takes in addition to the wait. Longer
	// times are caused by a hypervisor.
	mostSwitchNs = 1e6
)

// Watch reads the clock for the time span on the caller's CPU, and returns what took that CPU away
// from its thread. It returns the zero Noise if the kernel does not count the thread's waits and
// switches. Lock the goroutine to its thread before the call.
func Watch(ctx context.Context, c clock.Rated, span time.Duration) machine.Noise {
	thread, err := machine.OpenThread()
	if err != nil {
		return machine.Noise{}
	}
	defer thread.Close()
	ticks := func(ns float64) int64 { return int64(ns / c.TickNs.Value) }
	gaps, lengths := make([]clock.Gap, 1024), make([]float64, 0, 1024)
	var seen watched
	caches := newRefill(c)
	before, err := thread.Look()
	lookedAt := c.Read()
	for begun := time.Now(); err == nil && time.Since(begun) < span && ctx.Err() == nil; {
		from := c.Read()
		found, to := c.Gaps(from, clock.Watch{Threshold: ticks(gapNs), Long: math.MaxInt64, Until: from + ticks(float64(stretchLength))}, gaps)
		var after machine.ThreadUse
		after, err = thread.Look()
		now := c.Read()
		lengths = lengths[:0]
		for _, g := range gaps[:found] {
			lengths = append(lengths, c.Ns(g.Ticks()))
		}
		seen.take(stretch{use: after.Since(before), ranNs: c.Ns(to - from), passedNs: c.Ns(now - lookedAt), gapsNs: lengths})
		before, lookedAt = after, now
		if seen.preempted {
			caches.measure()
			before, err = thread.Look()
			lookedAt = c.Read()
		}
	}
	noise := seen.noise()
	noise.RefillNs, noise.Refills = caches.ns(), len(caches.tookNs)
	return noise
}

// stretch is what a thread that watches its CPU observed between two looks at its counters.
type stretch struct {
	use      machine.ThreadUse // between the two looks
	ranNs    float64           // from the first reading to the last
	passedNs float64           // from one look to the next, including the second look
	gapsNs   []float64         // the gaps, in which the thread did not run
}

// watched sums the stretches in which the thread did not wait for other threads. The kernel often
// preempts a thread at the end of a look, after the counters were read: the time is then part of one
// stretch, and the wait is counted in the next. So a stretch counts only once the next one has shown
// no wait. Otherwise, if there are competitors, it would seem that the kernel charges no interrupt to
// the thread.
type watched struct {
	sum, last totals
	// switchesNs are the times that preemptions took in addition to the wait, including the timer
	// interrupts that led to them.
	switchesNs []float64
	// preempted says that another thread had the CPU in the last stretch.
	preempted bool
}

// totals sums over stretches: the time that the thread ran, the part of it that was not charged to
// the thread, and the gaps: their number, their total length and the longest.
type totals struct{ ranNs, unchargedNs, gaps, lostNs, worstNs float64 }

func (t totals) plus(more totals) totals {
	return totals{
		ranNs: t.ranNs + more.ranNs, unchargedNs: t.unchargedNs + more.unchargedNs,
		gaps: t.gaps + more.gaps, lostNs: t.lostNs + more.lostNs, worstNs: math.Max(t.worstNs, more.worstNs),
	}
}

func (w *watched) take(s stretch) {
	now := totals{ranNs: s.ranNs, unchargedNs: s.passedNs - float64(s.use.CPUNs), gaps: float64(len(s.gapsNs))}
	for _, ns := range s.gapsNs {
		now.lostNs, now.worstNs = now.lostNs+ns, math.Max(now.worstNs, ns)
	}
	w.preempted = s.use.InvoluntarySwitches > 0 && s.use.WaitNs >= sweepNs
	others := s.use.VoluntarySwitches + s.use.MinorFaults
	if s.use.WaitNs == 0 && s.use.InvoluntarySwitches+others == 0 {
		w.sum, w.last = w.sum.plus(w.last), now
		return
	}
	w.last = totals{}
	if ns := now.lostNs - float64(s.use.WaitNs); s.use.InvoluntarySwitches == 1 && others == 0 && ns > 0 && ns < mostSwitchNs {
		w.switchesNs = append(w.switchesNs, ns)
	}
}

// noise returns what the stretches show. SwitchNs is NaN if no complete preemption was seen.
func (w *watched) noise() machine.Noise {
	n := machine.Noise{WatchedNs: w.sum.ranNs, LongestLossNs: w.sum.worstNs, SwitchNs: stats.Median(w.switchesNs), RefillNs: math.NaN()}
	return withoutUncharged(n, w.sum)
}

// withoutUncharged completes the noise of a watched thread from its gaps. It leaves out time that the
// kernel did not charge to the thread (steal, and on some kernels interrupts), because that is not
// part of a program's CPU time either.
func withoutUncharged(n machine.Noise, sum totals) machine.Noise {
	uncharged := math.Min(math.Max(0, sum.unchargedNs), sum.lostNs)
	lost := sum.lostNs - uncharged
	n.WatchedNs -= uncharged
	n.LongestLossNs = math.Min(n.LongestLossNs, lost)
	if n.WatchedNs > 0 {
		n.LostShare, n.LossesPerSecond = lost/n.WatchedNs, 1e9*sum.gaps/n.WatchedNs
	}
	return n
}
