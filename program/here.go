package program

import (
	"context"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// How long Here looks at things.
const (
	calibration = 20 * time.Millisecond
	// roughly is how long the counter is calibrated to begin with, to some parts in 10,000:
	// enough to watch by, while it is calibrated well.
	roughly = time.Millisecond
	// glance is how long the CPU is watched between two looks at what the kernel counts.
	glance = 500 * time.Microsecond
)

// Here fills in what the setting does not say, within some 40 ms: it calibrates the
// processor's counter, by which it lets interrupts be watched, and finds how the kernel counts
// CPU time. What can't be had stays empty. release gives back what was opened. The error is
// that of ctx.
func Here(ctx context.Context, given Setting) (setting Setting, release func(), err error) {
	setting, release = given, func() {}
	if setting.Root == nil {
		setting.Root = os.DirFS("/")
	}
	if setting.CPUs == 0 {
		setting.CPUs = runtime.NumCPU()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if setting.Counting == (Counting{}) {
		setting.Counting = counting()
	}
	counter, rate := openCounter(ctx)
	if counter == nil {
		return setting, release, ctx.Err()
	}
	release = func() { counter.Close() }
	finer := make(chan clock.Rate, 1)
	go func() {
		if better, err := clock.Calibrate(ctx, counter, nil, calibration); err == nil {
			finer <- better
		}
		close(finer)
	}()
	if better, ok := <-finer; ok {
		rate = better
	}
	if setting.CounterHz == 0 {
		setting.CounterHz = rate.Hz.Value
	}
	if setting.CoreHz == nil {
		setting.CoreHz = coreHz(counter, rate)
	}
	if setting.Watch == nil {
		setting.Watch = func(ctx context.Context, span time.Duration) machine.Noise { return watch(ctx, counter, rate, span) }
	}
	return setting, release, ctx.Err()
}

// openCounter opens the processor's counter and calibrates it roughly; nil where there is none.
func openCounter(ctx context.Context) (*clock.Clock, clock.Rate) {
	for _, name := range []string{"tsc", "cntvct"} {
		c, err := clock.Open(name)
		if err != nil {
			continue
		}
		rate, err := clock.Calibrate(ctx, c, nil, roughly)
		if err == nil {
			return c, rate
		}
		c.Close()
	}
	return nil, clock.Rate{}
}

// Rounds of the chain by which the core's rate is followed, and how often it is tried.
const chainRounds, chainTries = 4000, 5

// coreHz measures the core's rate once, and afterwards tells it by a chain of operations
// that takes some microseconds; nil where it can't be measured.
func coreHz(c *clock.Clock, rate clock.Rate) func() float64 {
	hz, err := clock.CoreRate(c, rate)
	if err != nil {
		return nil
	}
	chain := func() float64 {
		least := math.Inf(1)
		for range chainTries {
			begun := c.Start()
			clock.Spin(chainRounds)
			least = math.Min(least, float64(c.End()-begun))
		}
		return least
	}
	fast := math.Inf(1)
	for range 10 {
		fast = math.Min(fast, chain())
	}
	return func() float64 { return hz.Value * fast / chain() }
}

// watch watches what takes the CPU away from this thread. Of gaps during which the kernel
// counted a wait for others that wait comes off: what is left is what a preemption takes, with
// the timer interrupt that led to it. A kernel likes to preempt where a thread looks at its
// counters, once these are read, so that the next look counts the wait: a stretch before such
// a look does not count either.
func watch(ctx context.Context, c *clock.Clock, rate clock.Rate, span time.Duration) machine.Noise {
	thread, err := machine.OpenThread()
	if err != nil {
		return machine.Noise{}
	}
	defer thread.Close()
	perNs := rate.Hz.Value / 1e9
	gaps := make([]clock.Gap, 1024)
	n := machine.Noise{SliceNs: math.NaN(), SwitchNs: math.NaN()}
	var sum watched
	var switches []float64
	var last watched // counts once the look after it has seen no wait that began in its own
	before, err := thread.Look()
	lookedAt := c.Read()
	for begun := time.Now(); err == nil && time.Since(begun) < span && ctx.Err() == nil; {
		from := c.Read()
		found, to := c.Gaps(from, clock.Watch{Threshold: int64(200 * perNs), Long: math.MaxInt64, Until: from + int64(float64(glance)*perNs)}, gaps)
		var after machine.ThreadUse
		after, err = thread.Look()
		now := c.Read()
		use, passed := after.Since(before), now-lookedAt
		before, lookedAt = after, now
		if use.WaitNs > 0 || use.VoluntarySwitches+use.InvoluntarySwitches+use.MinorFaults > 0 {
			last = watched{}
			if use.InvoluntarySwitches == 1 && use.VoluntarySwitches+use.MinorFaults == 0 {
				switches = append(switches, lengthOf(gaps[:found], perNs)-float64(use.WaitNs))
			}
			continue
		}
		sum.add(last)
		last = watched{ranNs: float64(to-from) / perNs, unchargedNs: float64(passed)/perNs - float64(use.CPUNs), gaps: float64(found)}
		for _, g := range gaps[:found] {
			ns := float64(g.Ticks()) / perNs
			last.lostNs, last.worstNs = last.lostNs+ns, math.Max(last.worstNs, ns)
		}
	}
	n.WatchedNs, n.IrregularWorstNs, n.SwitchNs = sum.ranNs, sum.worstNs, switchOf(switches)
	return gapsOf(n, sum.lostNs, sum.gaps, sum.unchargedNs)
}

// watched is what a thread saw of its CPU in some stretches: for how long it ran, the gaps in
// that and what they took, and what it was not charged for.
type watched struct{ ranNs, unchargedNs, gaps, lostNs, worstNs float64 }

func (w *watched) add(more watched) {
	w.ranNs, w.unchargedNs = w.ranNs+more.ranNs, w.unchargedNs+more.unchargedNs
	w.gaps, w.lostNs, w.worstNs = w.gaps+more.gaps, w.lostNs+more.lostNs, math.Max(w.worstNs, more.worstNs)
}

// lengthOf is that of gaps together, in nanoseconds.
func lengthOf(gaps []clock.Gap, perNs float64) (ns float64) {
	for _, g := range gaps {
		ns += float64(g.Ticks()) / perNs
	}
	return ns
}

// mostSwitchNs is more than a preemption takes: a wait that began after the last gap, or a
// hypervisor's doing.
const mostSwitchNs = 1e6

// switchOf is what one of these preemptions takes, typically; NaN where there is none.
func switchOf(ns []float64) float64 {
	return stats.Median(slices.DeleteFunc(ns, func(ns float64) bool { return !(ns > 0 && ns < mostSwitchNs) }))
}

// gapsOf is the noise of a thread that was watched, of so many gaps that took lostNs in all.
// Of that the kernel did not charge it for unchargedNs: steal, and on some kernels
// interrupts, which come off a run's time by its own account.
func gapsOf(n machine.Noise, lostNs, count, unchargedNs float64) machine.Noise {
	unchargedNs = math.Min(math.Max(0, unchargedNs), lostNs)
	lostNs -= unchargedNs
	n.WatchedNs -= unchargedNs
	n.IrregularWorstNs = math.Min(n.IrregularWorstNs, lostNs)
	if n.WatchedNs > 0 {
		n.IrregularShare, n.IrregularPerSecond = lostNs/n.WatchedNs, 1e9*count/n.WatchedNs
	}
	return n
}
