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
	CPU         *int        `json:"cpu"` // nil where the thread was free to move
	Clock       string      `json:"clock"`
	ThresholdNs float64     `json:"threshold_ns"`
	DurationNs  float64     `json:"duration_ns"`
	ActiveRatio stats.Float `json:"active_ratio"`
	Dropped     int         `json:"dropped"`
	// Periods are those that [Trace.TimedPeriods] lists; [Analyse] leaves them out.
	Periods []TimedPeriod `json:"periods,omitempty"`
	// Interrupts are those of this kernel's timer tick, nil where no tick was found.
	Interrupts *Interrupts `json:"interrupts"`
	// Accounting is that of [Trace.Accounting]; [Analyse] leaves it out.
	Accounting *Accounting `json:"accounting"`
	Combs      []Comb      `json:"combs"`
	// Causes has the time that each cause of inactivity took.
	Causes map[Cause]Total `json:"causes"`
	// Own are the kernel's interrupts other than its timer's; nil where the kernel does not
	// tell, and in documents that are older than this field.
	Own *OwnInterrupts `json:"own_interrupts,omitempty"`
	// Undisturbed says how likely a stretch of work is not disturbed.
	Undisturbed []Undisturbed `json:"undisturbed"`
	// LateNs is the gap that ended the recording, as it was to; nil where none did.
	LateNs *float64 `json:"late_ns,omitempty"`
	// Named says by the kernel's events who or what it was; nil without rights to them.
	Named *Named `json:"named,omitempty"`
	// SliceNs is how long the thread typically ran between two preemptions; missing
	// where it was never preempted twice.
	SliceNs stats.Float `json:"slice_ns"`
	// SwitchNs is what a typical preemption cost beyond the wait for the CPU: the
	// interrupt that led to it, the choice of the next thread, both context
	// switches as far as the kernel counts them as neither's wait, and the way
	// back. The caches that the other thread left cold come on top. It is the
	// median of the preempted gaps less their run-queue wait, missing without any.
	SwitchNs stats.Float `json:"switch_ns"`
	// WaitNs is the run-queue wait that the kernel counted during the trace.
	WaitNs float64 `json:"runqueue_wait_ns"`
	// ClockHz is the rate of the trace's clock that the kernel's tick implies, if
	// that has its nominal period (homework 9.9 C); missing without a tick.
	ClockHz stats.Float `json:"clock_hz"`
	Caveats []string    `json:"caveats"`

	// Tick is the comb of this kernel's timer, nil where none was found.
	Tick *Comb `json:"-"`
	// Timer compares the interrupts of this CPU's timer with those found in the trace; nil if the
	// kernel does not tell.
	Timer *TimerCount `json:"-"`
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

// Interrupts are those of this kernel's timer tick.
type Interrupts struct {
	PeriodNs float64        `json:"period_ns"`
	Period   stats.Estimate `json:"period"`
	Count    int            `json:"count"`  // that began a gap
	Hidden   int            `json:"hidden"` // that fell into a gap
	Costs
	// Counted is how often the kernel says that this CPU's timer interrupted it, and
	// Sleepers how many gaps are put down to timers that wake a sleeping thread; nil where
	// the kernel does not tell.
	Counted  *int `json:"counted"`
	Sleepers *int `json:"sleepers"`
}

// TimerCount is how many interrupts of its timer the kernel counted on the
// trace's CPU, and where they are in the trace. Counted may exceed the others by
// those that the trace did not see; some of these fell into Own gaps.
type TimerCount struct {
	// Counted in the part of the trace whose gaps were kept.
	Counted int
	// Teeth and Hidden are the tick's ([Comb]).
	Teeth, Hidden int
	// Sleepers are gaps put down to the rest: a timer also wakes a sleeping thread.
	Sleepers int
}

// Total is what a cause took.
type Total struct {
	Count   int     `json:"count"`
	TotalNs float64 `json:"total_ns"`
	MaxNs   float64 `json:"max_ns"`
}

// Analyse puts each gap of the trace down to a cause, as Gap.Cause, and sums up.
// It takes time in proportion to the number of gaps.
func Analyse(t *Trace) *Analysis {
	for i := range t.Gaps {
		t.Gaps[i].Cause = Unexplained
		// A long one may be another thread's, where the kernel does not tell.
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
	t.blameRest(a)
	a.sum(t)
	a.Interrupts = a.interrupts()
	if own := a.Own; own != nil && own.Open > 0 {
		a.Caveats = append(a.Caveats, fmt.Sprintf("the kernel counted %d to %d interrupts of its own among %d gaps, and not which these were: they took %.3g to %.3g ms together, and %d gaps stay unexplained", own.Fewest, own.Counted, own.Gaps, own.LeastNs/1e6, own.MostNs/1e6, own.Open))
	}
	return a
}

// interrupts are those of the tick that was found; nil without one.
func (a *Analysis) interrupts() *Interrupts {
	tick := a.Tick
	if tick == nil {
		return nil
	}
	i := &Interrupts{PeriodNs: tick.PeriodNs, Period: tick.Period, Count: tick.Count, Hidden: tick.Hidden, Costs: tick.Costs}
	if a.Timer != nil {
		i.Counted, i.Sleepers = &a.Timer.Counted, &a.Timer.Sleepers
	}
	return i
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

// seen is how much of the trace its gaps tell of: all, or up to the last gap that
// was kept.
func (t *Trace) seen() int64 {
	if n := len(t.Gaps); t.Dropped > 0 && n > 0 {
		return t.Gaps[n-1].End()
	}
	return t.Length
}

// counted is the part of a count of the whole trace that fell into what the gaps
// tell of.
func (t *Trace) counted(n uint64) int {
	return int(math.Round(float64(n) * float64(t.seen()) / float64(max(t.Length, 1))))
}

// hints are the periods that the kernel's own timer may have. A tickless kernel
// has none: it counts far fewer interrupts than its rate would bring.
func (t *Trace) hints() []float64 {
	ticks := t.Kernel.TickHz * t.Ns(t.Length) / 1e9
	if !(ticks > 0) || t.Kernel.Known && float64(t.Kernel.TimerInterrupts) < presence*t.ActiveRatio()*ticks {
		return nil
	}
	return []float64{1e9 / t.Kernel.TickHz}
}

// blameJoins settles the gaps that are still unexplained and to which the
// kernel's counters give a cause that is settled now. A join that accounts for
// several gaps settles those that make up a good part of them. CPU time that is
// missing is the last to be asked about: a kernel that keeps the time of its
// interrupts apart (CONFIG_IRQ_TIME_ACCOUNTING) leaves it out of CPU time too.
// It returns what a preemption typically took beyond the wait.
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

// longestOf are the gaps of a join that its cause may have made, the longest first: another thread had the CPU
// in as many as there were switches at most.
func (t *Trace) longestOf(j Join, cause Cause) (gaps []int) {
	for i := j.From; i <= j.Gap; i++ {
		gaps = append(gaps, i)
	}
	slices.SortStableFunc(gaps, func(a, b int) int { return cmp.Compare(t.Gaps[b].Ticks, t.Gaps[a].Ticks) })
	if switches := j.Use.InvoluntarySwitches + j.Use.VoluntarySwitches; cause == Preempted && switches > 0 {
		gaps = gaps[:min(len(gaps), int(switches))]
	}
	return gaps
}

// parkedNs is the most that the Go scheduler is taken to park the thread for.
const parkedNs = 1e6

// mostOf a gap is the share that a counter must explain to be its cause.
const mostOf = 0.5

// cause says what the counters of a join make of its gap, of gapNs, given the
// time since the look before, and the CPU then (-1 where that is not known).
//
// The reading loop never waits for anything, so that a thread that slept was
// stopped, if the process was continued then, or else parked by the Go runtime,
// which also takes the thread away for a moment between two spells. What is
// missing from its CPU time without a wait was taken by the hypervisor, where
// there is one and the kernel knows of steal.
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

// blameCombs tells this kernel's tick from combs that it knows nothing of, and
// puts their gaps down to them.
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
			c.Source = Unexplained // the host's, or another thread's
		default:
			c.Source = Interrupt // a device's, or a firmware's
		}
		for _, i := range c.Gaps {
			// What takes longer than half a period is no interrupt, whenever it begins.
			interrupt := t.Ns(t.Gaps[i].Ticks) < c.Period.Value/2
			if t.Gaps[i].Cause == Unexplained && (interrupt || c.Source == Hypervisor) {
				t.Gaps[i].Cause = c.Source
			}
		}
	}
}

// tickAmong is the comb that is this kernel's tick: the one whose period is
// nearest to the tick's, or else the first that can be; nil where none can.
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

// offTick is how far the comb's period is from that of the kernel's tick, as a
// share of it; 0 where the tick's is not known.
func (t *Trace) offTick(c Comb) float64 {
	if t.Kernel.TickHz == 0 {
		return 0
	}
	return math.Abs(c.Period.Value*t.Kernel.TickHz/1e9 - 1)
}

// isTick reports that the comb is this kernel's: it has the period of the
// kernel's tick, and the kernel counted about as many timer interrupts or more
// (a local timer also serves sleepers).
func (t *Trace) isTick(c Comb) bool {
	if t.offTick(c) > hintReach {
		return false
	}
	return !t.Kernel.Known || float64(t.counted(t.Kernel.TimerInterrupts)) > 0.8*float64(len(c.Gaps))
}

// OwnInterrupts bound the time of this kernel's interrupts other than its timer's. The kernel
// counts how many of the gaps that nothing else explains were interrupts, and not which.
type OwnInterrupts struct {
	// Counted is how many there may have been at most, by the kernel's count, and Fewest how
	// many there were at least: others may have fallen into gaps of other causes.
	Counted int `json:"counted"`
	Fewest  int `json:"fewest"`
	// Gaps is the number of gaps of an interrupt's length that nothing else explains. LeastNs and
	// MostNs bound the time of as many of them as were counted.
	Gaps    int     `json:"gaps"`
	LeastNs float64 `json:"least_ns"`
	MostNs  float64 `json:"most_ns"`
	// Open gaps stay unexplained.
	Open int `json:"open"`
}

// blameRest settles what no switch and no comb explains, as far as the kernel's count of its
// own interrupts allows. The count says how many of these gaps were interrupts, and not which:
// they may have been the shortest or the longest. Where both would give a gap the same cause
// it gets that cause, and else none. So the time of a cause lies between what is put down to
// it and that plus what is unexplained.
func (t *Trace) blameRest(a *Analysis) {
	if !t.Kernel.Known {
		return
	}
	a.Timer = t.countTimer(a.Tick)
	sleepers := max(0, a.Timer.Counted-a.Timer.Teeth-a.Timer.Hidden)
	rest := make([]int32, 0, len(t.Gaps)) // of the gaps' numbers
	var lost float64
	wakers := 0 // interrupts that may have begun or ended the turns of other threads
	for i, g := range t.Gaps {
		lost += float64(g.Ticks)
		if keptFromCPU(g.Cause) {
			wakers += 2
		}
		if t.isRest(i) {
			rest = append(rest, int32(i))
		}
	}
	slices.SortStableFunc(rest, func(i, j int32) int { return cmp.Compare(t.Gaps[i].Ticks, t.Gaps[j].Ticks) })
	most := t.counted(t.Kernel.OtherInterrupts) + sleepers
	n := len(rest)
	fewest := min(seenOf(most-wakers, lost/float64(max(t.seen(), 1))), n)
	most = min(most, n)
	a.Timer.Sleepers = min(sleepers, most)
	own := &OwnInterrupts{Counted: most, Fewest: fewest, Gaps: n}
	for k, i := range rest {
		ns := t.Ns(t.Gaps[i].Ticks)
		if k < fewest {
			own.LeastNs += ns
		}
		if k >= n-most {
			own.MostNs += ns
		}
		switch {
		case k >= n-fewest && k < fewest:
			t.Gaps[i].Cause = Interrupt
		case k >= most && k < n-most && t.mayBlameHost():
			t.Gaps[i].Cause = Hypervisor
		default:
			own.Open++
		}
	}
	a.Own = own
}

// seenOf is how many of n interrupts at least began a gap of their own, where others fall into
// the share of the time that is lost anyway: three standard deviations below what is expected.
func seenOf(n int, lost float64) int {
	n = max(n, 0)
	hidden := float64(n) * lost
	return max(0, int(float64(n)-hidden-3*math.Sqrt(hidden)-1))
}

// mayBlameHost reports that the hypervisor may be what is left when everything else is ruled
// out: there is one, and what the kernel counts of interrupts and of the thread is known.
func (t *Trace) mayBlameHost() bool {
	return t.Kernel.Virtual && t.Kernel.Known && !t.Unwatched
}

// isRest reports that a gap may be an interrupt, and nothing has explained it.
func (t *Trace) isRest(i int) bool {
	g := t.Gaps[i]
	return g.Cause == Unexplained && t.Ns(g.Ticks) >= shortestInterruptNs
}

// countTimer sets the kernel's count of its timer against the tick that was
// found.
func (t *Trace) countTimer(tick *Comb) *TimerCount {
	c := &TimerCount{Counted: t.counted(t.Kernel.TimerInterrupts)}
	if tick != nil {
		c.Teeth, c.Hidden = len(tick.Gaps), tick.Hidden
	}
	return c
}

// shortestInterruptNs is the least that serving an interrupt takes: entry, exit
// and acknowledgement alone are several hundred nanoseconds.
const shortestInterruptNs = 500

// sum fills in what follows from the causes.
func (a *Analysis) sum(t *Trace) {
	var totals [causes]Total
	for _, g := range t.Gaps {
		total := &totals[g.Cause]
		total.Count++
		total.TotalNs += t.Ns(g.Ticks)
		total.MaxNs = math.Max(total.MaxNs, t.Ns(g.Ticks))
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
	kept := t.roomFor(undisturbedNs, t.mayKeepFromCPU)
	for i, length := range undisturbedNs {
		u := Undisturbed{LengthNs: length}
		var trials, unpreempted float64
		u.Probability, trials = any.trials(i)
		u.Unpreempted, unpreempted = kept.trials(i)
		u.Trials, u.UnpreemptedTrials = stats.FloatOf(trials), stats.FloatOf(unpreempted)
		a.Undisturbed = append(a.Undisturbed, u)
	}
	var slicesNs []float64
	for stretch, ended := range t.activeStretches(keptFromCPU) {
		if ended {
			slicesNs = append(slicesNs, stretch)
		}
	}
	if len(slicesNs) > 1 {
		a.SliceNs = stats.FloatOf(stats.Median(slicesNs))
	}
}

// attributed is how many of a comb's gaps are put down to its source.
func (t *Trace) attributed(c Comb) *int {
	n := 0
	for _, i := range c.Gaps {
		if t.Gaps[i].Cause == c.Source {
			n++
		}
	}
	return &n
}
