package program

import (
	"fmt"
	"math"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// mostProbed is the largest number of CPUs that are probed around a run. Moving this thread to each of two CPUs and
// back took 0.6 ms per run; for many CPUs it would take longer than the program.
const mostProbed = 4

// probedFor is the time for which a result holds: the probe after a run is also the one before the next run.
const probedFor = time.Millisecond

// sharingProbe finds out whether something else uses the cores of CPUs, such as another virtual machine on the second
// hyperthread.
type sharingProbe struct {
	slowed func() float64 // of the caller's CPU; nil if unknown
	cpus   []int          // those that programs may use, unless they are bound to others
	last   map[int]float64
	at     time.Time
}

func newSharingProbe(slowed func() float64) *sharingProbe {
	p := &sharingProbe{slowed: slowed}
	if cpus, err := machine.Affinity(); err == nil {
		p.cpus = cpus
	}
	return p
}

// now returns, for each CPU that a command may use, the share by which independent instructions take longer than on a
// core that nothing shares; nil if unknown. bound are the CPUs to which the command is bound, if any.
func (p *sharingProbe) now(bound []int) map[int]float64 {
	cpus := bound
	if len(cpus) == 0 {
		cpus = p.cpus
	}
	if p.slowed == nil || len(cpus) > mostProbed {
		return nil
	}
	if time.Since(p.at) < probedFor {
		return p.last
	}
	p.last = map[int]float64{}
	for _, cpu := range cpus {
		if release, err := env.Thread(cpu); err == nil {
			p.last[cpu] = p.slowed()
			release()
		}
	}
	p.at = time.Now()
	return p.last
}

// slowedWhere returns the largest share of the CPUs on which a program ran; NaN if one of them was not probed, or if it
// is not known where the program ran.
func slowedWhere(slowed map[int]float64, events []process.Event) float64 {
	worst := math.NaN()
	for _, e := range events {
		if e.AtNs < 0 {
			continue
		}
		share, probed := slowed[e.CPU]
		if !probed {
			return math.NaN()
		}
		if !(worst >= share) {
			worst = share
		}
	}
	return worst
}

// fewestApart is the least number of runs on unshared cores that show what the others lost.
const fewestApart = 4

// sharedCore reports whether something else used the core just before or just after the run.
func (r *Run) sharedCore() bool {
	return env.Probed{SlowedBefore: r.slowedBefore, SlowedAfter: r.slowedAfter}.Shared()
}

// unseenAtMost is the factor by which the remaining runs may have shared a core unseen for longer than expected, since
// other programs do not come and go at random.
const unseenAtMost = 2

// keepApart leaves out the runs during which something else used the core, if the others are enough for an interval and
// clearly took less time. On a machine of its own a program shares its core with nothing. If these runs count, the lower
// end allows for what sharing may have cost them.
func (c *conclusion) keepApart() {
	var probed []env.Probed
	var apart, shared []float64
	times := c.each((*Run).TimeNs)
	for i, r := range c.used {
		p := env.Probed{Ns: times[i], SlowedBefore: r.slowedBefore, SlowedAfter: r.slowedAfter}
		probed = append(probed, p)
		if p.Shared() {
			shared = append(shared, p.Ns)
		} else {
			apart = append(apart, p.Ns)
		}
	}
	c.sharing = env.SharingOf(probed, fewestApart, c.plan.Precision)
	costs := math.Min(c.sharing.Costs, env.SharedTimes-1)
	if len(shared) == 0 || costs <= math.Min(c.plan.Precision, DefaultPlan.Precision) {
		return
	}
	unseen := unseenAtMost * c.sharing.Unseen()
	var allowed []float64
	for i, r := range c.used {
		cost, part := costs, unseen
		if math.IsNaN(costs) { // as much as independent instructions
			cost = c.sharing.Slowed * r.ranShare()
		}
		if probed[i].Shared() {
			part = 1
		}
		more := math.Min(1, part) * cost
		allowed = append(allowed, more/(1+more)*c.low[i])
		r.allowFor(allowed[i])
	}
	c.sharedNs = stats.Median(allowed)
	if !(c.sharing.Told() && c.sharing.Costs <= env.SharedTimes-1 && len(apart) >= fewestChosen && median(apart).Hi < median(shared).Lo) {
		return
	}
	used, low, high := c.used, c.low, c.high
	c.used, c.low, c.high = nil, nil, nil
	for i, p := range probed {
		if used[i].leftOut = p.Shared(); !used[i].leftOut {
			c.used, c.low, c.high = append(c.used, used[i]), append(c.low, low[i]), append(c.high, high[i])
		}
	}
	c.leftShared, c.sharedNs = len(shared), 0
}

// saySharing tells in the explanation if runs on shared cores were left out.
func (c *conclusion) saySharing() {
	if c.leftShared > 0 {
		c.Explanation += fmt.Sprintf("; %s that shared a core, such as with a busy hyperthread, took %s longer and do not count", stats.Count(c.leftShared, "run"), stats.Share(c.sharing.Costs))
	}
}

// judgeSharing lowers the verdict if runs on shared cores count and it is not known what the sharing cost them. Sharing
// slows a program only while it runs.
func (c *conclusion) judgeSharing() {
	if c.leftShared > 0 || c.sharing.Slowed*c.typical((*Run).ranShare) <= stats.WideShare {
		return
	}
	if why := c.sharing.Suspicion("runs"); why != "" {
		c.Lower(stats.Suspect, "%s", why)
	}
}
