package program

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// mostProbed is the largest number of CPUs that are probed around a run. If a command may use more, one on which it ran is
// probed, after the run only. Moving this thread to each of two CPUs and back took 0.6 ms per run; for many CPUs it would
// take longer than the program.
const mostProbed = 4

// probedFor is the time for which a result holds: the probe after a run is also the one before the next run.
const probedFor = time.Millisecond

// sharingProbe finds out whether something else uses the cores of CPUs, such as another virtual machine on the second
// hyperthread.
type sharingProbe struct {
	slowed func(cpu int) float64 // of the CPU on which the caller is; nil if unknown
	cpus   []int                 // those that programs may use, unless they are bound to others
	last   map[int]float64
	at     time.Time
	// leftNs is how long the pauses of each command may still be. seen says that something shared a core.
	leftNs map[string]float64
	seen   bool
}

func newSharingProbe(root fs.FS, slowed func() float64) *sharingProbe {
	p := &sharingProbe{leftNs: map[string]float64{}}
	if slowed != nil {
		p.slowed = env.SlowedByKind(root, slowed)
	}
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
			if share := p.slowed(cpu); !math.IsNaN(share) {
				p.last[cpu] = share
			}
			release()
		}
	}
	p.at = time.Now()
	return p.last
}

// after probes one CPU on which a run was, if the run may use more CPUs than mostProbed. It returns the share by which
// independent instructions take longer there. The CPU is drawn in proportion to the time for which the program ran
// there. So over many runs, the share that finds its core shared is the share of time that they spent on shared cores.
// It is NaN if the run may use mostProbed CPUs or fewer, or if it is not known where it ran.
func (p *sharingProbe) after(bound []int, events []process.Event) float64 {
	if p.slowed == nil || len(bound) <= mostProbed && (len(bound) > 0 || len(p.cpus) <= mostProbed) {
		return math.NaN()
	}
	cpu, known := drawn(ranOn(events))
	if !known {
		return math.NaN()
	}
	release, err := env.Thread(cpu)
	if err != nil {
		return math.NaN()
	}
	defer release()
	return p.slowed(cpu)
}

// ranOn returns for how many nanoseconds the threads of a program had each CPU since its exec.
func ranOn(events []process.Event) map[int]int64 {
	ns, began := map[int]int64{}, map[int]process.Event{}
	for _, e := range events {
		switch from, running := began[e.Thread]; {
		case e.Kind == process.SwitchedIn:
			began[e.Thread] = e
		case running && (e.Kind == process.Preempted || e.Kind == process.Blocked || e.Kind == process.Exited):
			ns[from.CPU] += max(0, e.AtNs-max(0, from.AtNs))
			delete(began, e.Thread)
		}
	}
	return ns
}

// drawn returns a CPU, drawn in proportion to its time; false if no CPU has any.
func drawn(ns map[int]int64) (cpu int, ok bool) {
	var sum int64
	for of, n := range ns {
		if sum += n; n > 0 && rand.Int64N(sum) < n {
			cpu, ok = of, true
		}
	}
	return cpu, ok
}

// A pause is probed probesOfPause times between its ends. Once something shared a core, pauses take pausesShare of the runs'
// time. They are as long as a run: a shorter one would tell less of sharing that comes and goes than happens within a run.
const (
	probesOfPause = 10
	pausesShare   = 0.1
	// pauseMargin is the time that has to be left before a time-out, as a multiple of the pause.
	pauseMargin = 1.5
)

// pauseAfter makes a pause as long as the run of a command on the CPU where it ended, if one is due.
func (p *sharingProbe) pauseAfter(ctx context.Context, command string, r *Run) *env.Pause {
	if math.IsNaN(r.slowedBefore + r.slowedAfter) {
		return nil
	}
	p.seen = p.seen || r.sharedCore()
	if p.leftNs[command] += pausesShare * float64(r.WallNs); !p.seen || p.leftNs[command] < float64(r.WallNs) {
		return nil
	}
	if end, limited := ctx.Deadline(); limited && time.Until(end) < time.Duration(pauseMargin*float64(r.WallNs)) {
		return nil // the time-out of the run would end in the pause
	}
	p.leftNs[command] -= float64(r.WallNs)
	cpu := r.Events[len(r.Events)-1].CPU
	release, err := env.Thread(cpu)
	if err != nil {
		return nil
	}
	defer release()
	pause := env.Pause{SlowedBefore: p.slowed(cpu)}
	for i := range probesOfPause + 1 {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(r.WallNs) / (probesOfPause + 1)):
		}
		slowed := p.slowed(cpu)
		if i == probesOfPause {
			pause.SlowedAfter = slowed
		} else if slowed > env.SharedFrom {
			pause.Shared += 1. / probesOfPause
		}
	}
	return &pause
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

// sharedCore reports whether something else used the core just before or just after the run.
func (r *Run) sharedCore() bool {
	return env.Probed{SlowedBefore: r.slowedBefore, SlowedAfter: r.slowedAfter}.Shared()
}

// probed returns the run's time with what the probes around it said.
func (r *Run) probed() env.Probed {
	return env.Probed{Ns: r.TimeNs(), SlowedBefore: r.slowedBefore, SlowedAfter: r.slowedAfter}
}

// allowForSharing finds out what something else on the core cost the runs, since on a machine of its own a program shares
// its core with nothing. What the runs tell of that cost is taken off, and those that shared a core are left out if the
// others are enough and known better.
func (c *conclusion) allowForSharing() {
	var probed []env.Probed
	var apart []int
	for i, r := range c.used {
		p := r.probed()
		probed = append(probed, p)
		if !p.Shared() {
			apart = append(apart, i)
		}
	}
	c.sharing = env.SharingOf(probed, c.pauses(), c.plan.Precision)
	switch seen := c.sharedAfterwards(); {
	case seen.Of > 0:
		if c.sharing = seen; c.suspectsSharing() != "" {
			c.takeOffSharing()
		}
	case c.sharing.Samples == 0:
	case c.sharing.Told() && len(apart) >= fewestChosen && c.sharing.Cost.Unseen() <= c.knownWithin():
		c.leaveOutShared(apart)
		c.takeOffSharing()
	default:
		c.takeOffSharing()
	}
}

// sharedAfterwards returns what probes after the runs tell of sharing, where not all CPUs are probed around each run. They do
// not tell what it cost.
func (c *conclusion) sharedAfterwards() env.Sharing {
	all := env.Sharing{Cost: env.Cost{Hi: math.Inf(1)}}
	var slowed []float64
	for _, r := range c.used {
		if p := r.probed(); math.IsNaN(r.slowedThere) || !math.IsNaN(p.SlowedBefore+p.SlowedAfter) {
			continue
		}
		if all.Of++; r.slowedThere > env.SharedFrom {
			slowed = append(slowed, r.slowedThere)
		}
	}
	all.Samples, all.Slowed = len(slowed), stats.Median(slowed)
	return all
}

// pauses returns the pauses between the command's runs; nil if none were to be made.
func (c *conclusion) pauses() (all []env.Pause) {
	if c.setting.Slowed != nil {
		all = []env.Pause{}
	}
	for i := range c.Runs {
		if pause := c.Runs[i].pause; pause != nil {
			all = append(all, *pause)
		}
	}
	return all
}

// costFor returns the cost of sharing for a run. It is taken to be no more than what independent instructions lose while the
// program runs, unless the runs show that it is.
func (c *conclusion) costFor(r *Run) env.Cost {
	return c.sharing.Cost.AtMost(c.assumedCost(r.ranShare()))
}

// assumedCost returns what independent instructions lost of a run that ran for a share of its time.
func (c *conclusion) assumedCost(ranShare float64) float64 { return c.sharing.Slowed * ranShare }

// knownWithin returns the typical difference, as a share, between the most and the least that sharing can have cost a run.
func (c *conclusion) knownWithin() float64 {
	var widths []float64
	for _, r := range c.used {
		cost := c.costFor(r)
		least, most := cost.Parts(r.probed())
		widths = append(widths, cost.Hi*most-cost.Lo*least)
	}
	return stats.Median(widths)
}

// takeOffSharing takes off what sharing cost the runs, and widens their intervals by its error.
func (c *conclusion) takeOffSharing() {
	var all []float64
	for i, r := range c.used {
		cost := c.costFor(r)
		least, most := cost.Parts(r.probed())
		factor := 1 / (1 + cost.Value*(least+most)/2)
		low, high := c.low[i], c.high[i]
		c.low[i], c.high[i] = low*factor, high*factor
		r.leastNs, r.calmNs, r.surelyNs = r.leastNs*factor, r.calmNs*factor, r.surelyNs*factor
		r.unsharedFactor = factor
		down, up := c.low[i]-low/(1+cost.Hi*most), high/(1+cost.Lo*least)-c.high[i]
		r.allowFor(down)
		r.slackUpNs, r.slackUpOfLowNs = r.slackUpNs+up, r.slackUpOfLowNs+up
		all = append(all, low-low/(1+cost.Hi*most))
	}
	c.sharedNs = stats.Median(all)
}

// leaveOutShared leaves out the runs that shared a core; apart are the indices of the others.
func (c *conclusion) leaveOutShared(apart []int) {
	c.leftShared = len(c.used) - len(apart)
	c.leavesOut = c.leftShared > 0
	c.keepOnly(apart)
}

// saySharing tells in the explanation if runs on shared cores were left out.
func (c *conclusion) saySharing() {
	if c.leftShared > 0 {
		c.Explanation += fmt.Sprintf("; %s that shared a core, such as with a busy hyperthread, took %s longer and do not count", stats.Count(c.leftShared, "run"), stats.Share(c.sharing.Cost.Value))
	}
}

// judgeSharing lowers the verdict if runs on shared cores count and it is not known what the sharing cost them.
func (c *conclusion) judgeSharing() {
	if c.leftShared > 0 {
		return
	}
	if why := c.suspectsSharing(); why != "" {
		c.Lower(stats.Suspect, "%s", why)
	}
}

// suspectsSharing returns why sharing may have slowed the runs by more than is known; empty if it has not. Sharing slows a
// program only while it runs.
func (c *conclusion) suspectsSharing() string {
	lost := c.assumedCost(c.typical((*Run).ranShare))
	if !(lost > stats.WideShare) {
		return ""
	}
	return c.sharing.Suspicion("runs", lost)
}
