package activity

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

// Analysis is the result of analysing a trace, as documents hold it.
type Analysis struct {
	CPU         *int        `json:"cpu"` // nil if the thread was free to move
	Clock       string      `json:"clock"`
	ThresholdNs float64     `json:"threshold_ns"`
	DurationNs  float64     `json:"duration_ns"`
	ActiveRatio stats.Float `json:"active_ratio"`
	Dropped     int         `json:"dropped"`
	// Periods is the result of [Trace.TimedPeriods]. [Analyse] does not fill it in.
	Periods []TimedPeriod `json:"periods,omitempty"`
	// Interrupts describes the interrupts of this kernel's timer tick; nil if no tick was found.
	Interrupts *Interrupts `json:"interrupts"`
	// Accounting is the result of [Trace.Accounting]. [Analyse] does not fill it in.
	Accounting *Accounting `json:"accounting"`
	Combs      []Comb      `json:"combs"`
	// Causes holds the time that each cause of inactivity took.
	Causes map[Cause]Total `json:"causes"`
	// Own describes the kernel's interrupts other than its timer's. It is nil if the kernel does
	// not count them, and in documents that are older than this field.
	Own *OwnInterrupts `json:"own_interrupts,omitempty"`
	// Undisturbed holds, for several lengths of work, the probability that the work is not
	// disturbed.
	Undisturbed []Undisturbed `json:"undisturbed"`
	// LateNs is the length of the gap that ended the recording; nil unless the recording was to end
	// at a gap and did.
	LateNs *float64 `json:"late_ns,omitempty"`
	// Named says, by the kernel's events, which threads and interrupts had the CPU; nil if this
	// process may not record the kernel's events.
	Named *Named `json:"named,omitempty"`
	// SliceNs is how long the thread typically ran between two preemptions. It is missing if the
	// thread was preempted less than twice.
	SliceNs stats.Float `json:"slice_ns"`
	// SwitchNs is the cost of a typical preemption in addition to the wait for the CPU: the
	// interrupt that led to it, the choice of the next thread, the parts of both context switches
	// that the kernel does not count as a wait, and the return. It does not include the cost of
	// refilling the caches. It is the median, over the preempted gaps, of the gap less its
	// run-queue wait, and missing without such gaps.
	SwitchNs stats.Float `json:"switch_ns"`
	// WaitNs is the run-queue wait that the kernel counted during the trace.
	WaitNs float64 `json:"runqueue_wait_ns"`
	// ClockHz is the rate of the trace's clock if the kernel's tick has exactly its nominal period
	// (homework 9.9 C); missing without a tick.
	ClockHz stats.Float `json:"clock_hz"`
	Caveats []string    `json:"caveats"`

	// Tick is the comb of this kernel's timer; nil if none was found.
	Tick *Comb `json:"-"`
}

// TimedPeriod is a period of a trace, in ticks and in time.
type TimedPeriod struct {
	Label         string  `json:"label"` // A0, I0, A1 ...
	State         string  `json:"state"` // "active" or "inactive"
	StartNs       float64 `json:"start_ns"`
	DurationNs    float64 `json:"duration_ns"`
	StartTicks    int64   `json:"start_ticks"`
	DurationTicks int64   `json:"duration_ticks"`
	Cause         *Cause  `json:"cause"` // nil for activity
}

// Interrupts describes the interrupts of this kernel's timer tick.
type Interrupts struct {
	PeriodNs float64        `json:"period_ns"`
	Period   stats.Estimate `json:"period"`
	Count    int            `json:"count"`  // interrupts that began a gap
	Hidden   int            `json:"hidden"` // interrupts that fell into a gap
	Costs
	// Counted is how many timer interrupts the kernel counted on this CPU, in the part of the trace whose gaps were
	// kept. It may exceed the sum of the other counts, since some interrupts can't be seen in the trace, for example in
	// gaps that the recording itself made (Gap.Own). Sleepers is how many gaps are attributed to timers that wake a
	// sleeping thread. Both are nil if the kernel does not count them.
	Counted  *int `json:"counted"`
	Sleepers *int `json:"sleepers"`
}

// Total is the number of gaps of one cause, and the time that they took.
type Total struct {
	Count   int     `json:"count"`
	TotalNs float64 `json:"total_ns"`
	MaxNs   float64 `json:"max_ns"`
}

// oneGap returns the total of one gap.
func oneGap(ns float64) Total { return Total{Count: 1, TotalNs: ns, MaxNs: ns} }

func (t *Total) add(more Total) {
	t.Count, t.TotalNs, t.MaxNs = t.Count+more.Count, t.TotalNs+more.TotalNs, max(t.MaxNs, more.MaxNs)
}

// Analyse attributes each gap of the trace to a cause, which it stores in Gap.Cause, and returns
// the sums. It takes time in proportion to the number of gaps.
func Analyse(t *Trace) *Analysis {
	for i := range t.Gaps {
		t.Gaps[i].Cause = Unexplained
		// A long gap of the recording's own may contain another thread's turn if the kernel does
		// not tell what the thread waited for.
		if t.Gaps[i].Own && !(t.Unwatched && t.Ns(t.Gaps[i].Ticks) > joinNs) {
			t.Gaps[i].Cause = Runtime
		}
	}
	a := &Analysis{
		Clock: t.Clock, ThresholdNs: t.Ns(t.Threshold), DurationNs: t.Ns(t.Length), Dropped: t.Dropped,
		ActiveRatio: stats.FloatOf(t.ActiveRatio()), Combs: []Comb{}, Causes: map[Cause]Total{}, Caveats: append([]string{}, t.Caveats...),
	}
	if t.CPU >= 0 {
		a.CPU = &t.CPU
	}
	if t.LateNs > 0 {
		a.LateNs = &t.LateNs
	}
	a.SwitchNs = stats.FloatOf(t.blameJoins(func(c Cause) bool { return c != Hypervisor }))
	a.Combs = append(a.Combs, t.combs(t.hints())...)
	t.blameCombs(a)
	if t.Kernel.Virtual {
		t.blameJoins(func(c Cause) bool { return c == Hypervisor })
	}
	timers, sleepers := t.blameRest(a)
	a.sum(t)
	if tick := a.Tick; tick != nil {
		a.Interrupts = &Interrupts{
			PeriodNs: tick.PeriodNs, Period: tick.Period, Count: tick.Count, Hidden: tick.Hidden, Costs: tick.Costs,
			Counted: timers, Sleepers: sleepers,
		}
	}
	if own := a.Own; own != nil && own.Open > 0 {
		a.Caveats = append(a.Caveats, fmt.Sprintf("the kernel counted %d to %d interrupts of its own among %d gaps, and not which these were: they took %.3g to %.3g ms together, and %d gaps stay unexplained", own.Fewest, own.Counted, own.Gaps, own.LeastNs/1e6, own.MostNs/1e6, own.Open))
	}
	return a
}

// TimedPeriods lists all periods.
func (t *Trace) TimedPeriods() (all []TimedPeriod) {
	for p := range t.Periods {
		timed := TimedPeriod{
			Label: fmt.Sprintf("A%d", p.Number), State: "active",
			StartNs: t.Ns(p.Start), DurationNs: t.Ns(p.Ticks), StartTicks: p.Start, DurationTicks: p.Ticks,
		}
		if !p.Active {
			timed.Label, timed.State, timed.Cause = fmt.Sprintf("I%d", p.Number), "inactive", &p.Cause
		}
		all = append(all, timed)
	}
	return all
}

// seen returns the length of the part of the trace that its gaps cover: the whole trace, or up to
// the last gap that was kept if others were dropped.
func (t *Trace) seen() int64 {
	if n := len(t.Gaps); t.Dropped > 0 && n > 0 {
		return t.Gaps[n-1].End()
	}
	return t.Length
}

// counted scales n, a count over the whole trace, to the part that [Trace.seen] returns.
func (t *Trace) counted(n uint64) int {
	return int(math.Round(float64(n) * float64(t.seen()) / float64(max(t.Length, 1))))
}

// hints returns the periods that the kernel's own timer may have. It returns none for a tickless
// kernel, whose count of interrupts is far below what the rate of its tick implies.
func (t *Trace) hints() []float64 {
	ticks := t.Kernel.TickHz * t.Ns(t.Length) / 1e9
	if !(ticks > 0) || t.Kernel.Known && float64(t.Kernel.TimerInterrupts) < presence*t.ActiveRatio()*ticks {
		return nil
	}
	return []float64{1e9 / t.Kernel.TickHz}
}

// blameJoins sets the cause of the gaps that are still unexplained and whose counters point to a
// cause for which settled is true. If a join accounts for several gaps, it sets the cause of those
// that take more than a tenth of their sum. Missing CPU time is considered last: a kernel that
// accounts the time of its interrupts separately (CONFIG_IRQ_TIME_ACCOUNTING) leaves it out of CPU
// time too. blameJoins returns what a preemption typically took beyond the wait.
func (t *Trace) blameJoins(settled func(Cause) bool) (switchNs float64) {
	cpu := t.CPU
	var beyond []float64
	for _, j := range t.Joins {
		var ticks int64
		for _, g := range t.Gaps[j.From : j.Gap+1] {
			ticks += g.Ticks
		}
		cause := j.cause(t.Ns(ticks), t.Ns(j.Ticks), cpu)
		if cause == Preempted && j.Use.WaitNs > 0 {
			beyond = append(beyond, math.Max(0, t.Ns(ticks)-float64(j.Use.WaitNs)))
		}
		if cause != Unexplained && settled(cause) {
			for _, i := range t.longestOf(j, cause) {
				open := t.Gaps[i].Cause == Unexplained || t.Gaps[i].Cause == Runtime
				if open && 10*t.Gaps[i].Ticks > ticks {
					t.Gaps[i].Cause = cause
				}
			}
		}
		cpu = j.Use.CPU
	}
	return stats.Median(beyond)
}

// longestOf returns the gaps of a join that cause may have made, the longest first: for the Go runtime between two
// spells those of the recording's own, and for a preemption at most as many as the kernel counted switches.
func (t *Trace) longestOf(j Join, cause Cause) (gaps []int) {
	for i := j.From; i <= j.Gap; i++ {
		if cause != Runtime || !j.Between || t.Gaps[i].Own {
			gaps = append(gaps, i)
		}
	}
	slices.SortStableFunc(gaps, func(a, b int) int { return cmp.Compare(t.Gaps[b].Ticks, t.Gaps[a].Ticks) })
	if switches := j.Use.InvoluntarySwitches + j.Use.VoluntarySwitches; cause == Preempted && switches > 0 {
		gaps = gaps[:min(len(gaps), int(switches))]
	}
	return gaps
}

// parkedNs is the longest gap between two spells that is attributed to the Go scheduler.
const parkedNs = 1e6

// mostOf is the share of a gap that a counter must explain to be the gap's cause.
const mostOf = 0.5

// cause returns the cause that the counters of a join imply for its gap, which took gapNs. sinceNs
// is the time since the previous look, and cpu the CPU at that look (-1 if unknown).
//
// The reading loop never waits for anything. So a thread that slept was stopped, if the process was
// continued during that time; otherwise the Go runtime parked it. The runtime also takes the thread
// away for a moment between two spells. CPU time that is missing without a run-queue wait was taken
// by the hypervisor, if there is one and the kernel counts steal.
func (j Join) cause(gapNs, sinceNs float64, cpu int) Cause {
	use := j.Use
	wait := float64(use.WaitNs)
	missing := sinceNs - float64(use.CPUNs) - wait
	switch {
	case j.Throttled:
		return Throttled
	case j.Continued && missing >= mostOf*gapNs:
		return Stopped
	case cpu >= 0 && use.CPU != cpu:
		return Migrated
	case (use.VoluntarySwitches > 0 || j.Between && gapNs < parkedNs) && wait < mostOf*gapNs:
		return Runtime
	case wait >= mostOf*gapNs, use.InvoluntarySwitches > 0:
		return Preempted
	case missing >= mostOf*gapNs:
		return Hypervisor
	case use.MinorFaults+use.MajorFaults > 0:
		return PageFault
	}
	return Unexplained
}

// blameCombs finds out which comb is this kernel's tick, and sets the cause of the gaps of all
// combs.
func (t *Trace) blameCombs(a *Analysis) {
	a.Tick = t.tickAmong(a.Combs)
	if a.Tick != nil && t.Kernel.TickHz > 0 {
		a.ClockHz = stats.FloatOf(a.Tick.Period.Value / t.TickNs * t.Kernel.TickHz)
	}
	for i := range a.Combs {
		c := &a.Combs[i]
		switch {
		case c == a.Tick:
			c.Source = TimerTick
		case t.mayBlameHost():
			c.Source = Hypervisor
		case t.Kernel.Virtual || t.Unwatched:
			c.Source = Unexplained // it may be a timer of the host or of another thread
		default:
			c.Source = Interrupt // an interrupt of a device or of the firmware
		}
		for _, i := range c.Gaps {
			// A gap that takes longer than half a period is no interrupt, even if it begins at a
			// tooth.
			interrupt := t.Ns(t.Gaps[i].Ticks) < c.Period.Value/2
			if t.Gaps[i].Cause == Unexplained && (interrupt || c.Source == Hypervisor) {
				t.Gaps[i].Cause = c.Source
			}
		}
	}
}

// tickAmong returns the comb that is this kernel's tick: of the combs that can be the tick, the one
// whose period is nearest to the nominal period, or the first if that period is not known. It
// returns nil if no comb can be the tick.
func (t *Trace) tickAmong(combs []Comb) *Comb {
	var tick *Comb
	for i := range combs {
		c := &combs[i]
		if t.isTick(*c) && (tick == nil || t.offTick(*c) < t.offTick(*tick)) {
			tick = c
		}
	}
	return tick
}

// offTick returns the distance of the comb's period from the period of the kernel's tick, as a
// share of the latter; 0 if the latter is not known.
func (t *Trace) offTick(c Comb) float64 {
	if t.Kernel.TickHz == 0 {
		return 0
	}
	return math.Abs(c.Period.Value*t.Kernel.TickHz/1e9 - 1)
}

// isTick reports whether the comb is this kernel's tick: it has the period of the kernel's tick,
// and the kernel counted about as many timer interrupts or more (a CPU's local timer also wakes
// sleeping threads). On a virtual machine whose kernel tells neither, it may as well be the host's.
func (t *Trace) isTick(c Comb) bool {
	if t.offTick(c) > hintReach || t.Kernel.Virtual && t.Kernel.TickHz == 0 && !t.Kernel.Known {
		return false
	}
	return !t.Kernel.Known || float64(t.counted(t.Kernel.TimerInterrupts)) > 0.8*float64(len(c.Gaps))
}

// sum fills in the fields that follow from the causes of the gaps.
func (a *Analysis) sum(t *Trace) {
	var totals [causes]Total
	for _, g := range t.Gaps {
		totals[g.Cause].add(oneGap(t.Ns(g.Ticks)))
	}
	for cause, total := range totals {
		if total.Count > 0 {
			a.Causes[Cause(cause)] = total
		}
	}
	for i := range a.Combs {
		c := &a.Combs[i]
		c.PeriodNs, c.Count, c.Attributed = c.Period.Value, len(c.Gaps), t.attributed(*c)
	}
	for _, j := range t.Joins {
		a.WaitNs += float64(j.Use.WaitNs)
	}
	any := t.roomFor(undisturbedNs, func(c Cause) bool { return c != Runtime })
	kept := t.roomFor(undisturbedNs, t.mayHaveLostCPU)
	for i, length := range undisturbedNs {
		u := Undisturbed{LengthNs: length}
		var trials, unpreempted float64
		u.Probability, trials = any.trials(i)
		u.Unpreempted, unpreempted = kept.trials(i)
		u.Trials, u.UnpreemptedTrials = stats.FloatOf(trials), stats.FloatOf(unpreempted)
		a.Undisturbed = append(a.Undisturbed, u)
	}
	var slicesNs []float64
	for stretch, ended := range t.activeStretches(Cause.LostCPU) {
		if ended {
			slicesNs = append(slicesNs, stretch)
		}
	}
	if len(slicesNs) > 1 {
		a.SliceNs = stats.FloatOf(stats.Median(slicesNs))
	}
}

// attributed returns how many of the comb's gaps have its source as their cause.
func (t *Trace) attributed(c Comb) *int {
	n := 0
	for _, i := range c.Gaps {
		if t.Gaps[i].Cause == c.Source {
			n++
		}
	}
	return &n
}
