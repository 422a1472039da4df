package check

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"

	"chronoscope/clock"
	"chronoscope/remedy"
)

// Plan says how much time the checks take.
type Plan struct {
	// Watch is the time for which the clocks are watched.
	Watch time.Duration
	// Every is the time from one look to the next.
	Every time.Duration
	// HandOvers is the part of Watch in which CPUs hand readings over to one another.
	HandOvers time.Duration
}

// The plans take less than one, three and twelve seconds.
var (
	QuickPlan    = Plan{Watch: 800 * time.Millisecond, Every: 8 * time.Millisecond, HandOvers: 200 * time.Millisecond}
	DefaultPlan  = Plan{Watch: 2400 * time.Millisecond, Every: 10 * time.Millisecond, HandOvers: 600 * time.Millisecond}
	ThoroughPlan = Plan{Watch: 11 * time.Second, Every: 10 * time.Millisecond, HandOvers: 3 * time.Second}
)

// check returns an error if the plan is not possible.
func (p Plan) check() error {
	if p.Watch <= 0 || p.Every <= 0 || p.HandOvers < 0 {
		return fmt.Errorf("check: a plan of looks for %v, every %v, and hand-overs for %v: choose times above 0 (for hand-overs, 0 is possible)", p.Watch, p.Every, p.HandOvers)
	}
	return nil
}

// passes is how many times all pairs of CPUs play, spread evenly over the watch. An offset in
// the middle of the watch needs passes before and after it.
const passes = 4

// bench is the surroundings in which clocks are checked: the real machine or a simulated one.
type bench struct {
	root       fs.FS
	nowNs      func() float64
	wait       func(ctx context.Context, d time.Duration)
	discipline func() (discipline, error)
	crew       crew // nil if there are fewer than two CPUs
	rng        *rand.Rand
	progress   func(share float64, doing string)
}

// run checks the subjects. If ctx ends early, it judges what was gathered so far.
func run(ctx context.Context, subjects []*subject, plan Plan, b bench) *Report {
	c := checking{subjects: subjects, plan: plan, bench: b, boottime: named(subjects, "boottime")}
	c.arrange()
	before := viewKernel(b.root, c.boottime)
	var k kept
	k.before, k.err = b.discipline()
	c.watch(ctx)
	if k.err == nil {
		k.after, k.err = b.discipline()
	}
	after := viewKernel(b.root, c.boottime)
	k.clocksource = after.clocksource
	return c.judge(before, after, k)
}

// checking is the state of one run.
type checking struct {
	subjects []*subject
	plan     Plan
	bench    bench
	boottime *subject
}

// arrange gives each clock that keeps time its references: for rates, a clock whose rate nobody
// adjusts; for steps, a clock of the same rate if there is one.
func (c *checking) arrange() {
	monotonic := named(c.subjects, "monotonic")
	if standard := c.reference(nil); standard != nil {
		standard.standard = true
	}
	for _, s := range c.subjects {
		reference := c.reference(s)
		if !s.keepsTime || !(s.tickNs() > 0) || reference == nil {
			continue
		}
		bend := wanderLimit
		if s.disciplined || reference.disciplined {
			bend = clock.SlewLimit
		}
		s.rate = c.newWatch(s, reference, bend)
		s.steps = s.rate
		if s.Kind == clock.KindWall && s.CountsSuspend == clock.Yes && s.disciplined && monotonic != nil && monotonic != s && monotonic.measurable() {
			s.steps = c.newWatch(s, monotonic, sameRate)
		}
	}
}

func (c *checking) newWatch(s, reference *subject, bend float64) *watch {
	looks := 2*int(c.plan.Watch/c.plan.Every) + 64
	return &watch{clock: s.Rated, reference: reference.Rated, bend: bend, sandwiches: make([]clock.Sandwich, 0, looks)}
}

// reference returns the best other clock with which the rate of s can be compared.
func (c *checking) reference(s *subject) *subject {
	for _, name := range []string{"monotonic-raw", "tsc-fenced", "tsc", "cntvct-fenced", "cntvct", "monotonic", "go-time-now"} {
		if r := named(c.subjects, name); r != nil && r != s && r.measurable() {
			return r
		}
	}
	return nil
}

func named(subjects []*subject, name string) *subject {
	i := slices.IndexFunc(subjects, func(s *subject) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return subjects[i]
}

// watch reads all clocks again and again, and lets the CPUs hand readings over at each pass.
func (c *checking) watch(ctx context.Context) {
	start := c.bench.nowNs()
	spent := func() float64 { return c.bench.nowNs() - start }
	length, budget := float64(c.plan.Watch), float64(c.plan.HandOvers)/passes
	for pass := 0; ctx.Err() == nil; {
		due := (length - budget) * float64(pass) / (passes - 1)
		if pass < passes && spent() >= due {
			c.bench.progress(spent()/length, "handing readings from CPU to CPU")
			c.handOver(ctx, budget)
			pass++
		}
		for _, s := range c.subjects {
			s.look()
		}
		if pass == passes && spent() >= length {
			return
		}
		c.bench.progress(min(1, spent()/length), "watching the clocks")
		c.bench.wait(ctx, c.plan.Every)
	}
}

// handOver lets the CPUs hand readings of each clock over. Time that one clock does not use of
// its share goes to the clocks after it.
func (c *checking) handOver(ctx context.Context, budgetNs float64) {
	if c.bench.crew == nil {
		return
	}
	shared := slices.DeleteFunc(slices.Clone(c.subjects), func(s *subject) bool { return !s.shared })
	end := c.bench.nowNs() + budgetNs
	for i, s := range shared {
		if ctx.Err() != nil {
			return
		}
		share := (end - c.bench.nowNs()) / float64(len(shared)-i)
		s.across.pass(ctx, s, c.bench.crew, time.Duration(max(0, share)), c.bench.nowNs, c.bench.rng)
	}
}

func (c *checking) judge(before, after kernelView, k kept) *Report {
	r := &Report{Findings: []Finding{}}
	for _, s := range c.subjects {
		width := r.judgeWrap(s)
		r.judgeOrder(s)
		if s.keepsTime {
			r.judgeWatch(s, width, k)
		}
		if c.bench.crew != nil && s.shared {
			r.judgeAcross(s, c.bench.crew.cpus())
			r.judgeOffsets(s, c.bench.crew.cpus())
		}
	}
	c.judgeCPUs(r)
	for _, s := range c.subjects {
		if s.rate != nil {
			r.judgeClocksource(before, after, s.rate.reference.Name)
			r.judgePause(s.rate, float64(c.plan.Every))
			break
		}
	}
	r.judgeNamespaces(after)
	return r
}

// judgeCPUs adds the reasons why some CPUs could not take part.
func (c *checking) judgeCPUs(r *Report) {
	all := []Question{OrderAcross, CPUOffset, CPUSkew}
	if c.bench.crew == nil {
		for _, q := range all {
			r.skip(q, "all clocks", "one CPU only may be used here, or threads can't be bound: allow two (%s, taskset, cpuset)", remedy.Of(remedy.CPUs))
		}
		return
	}
	for _, loss := range c.bench.crew.lost() {
		for _, q := range all {
			r.skip(q, "all clocks", "%s", loss)
		}
	}
}
