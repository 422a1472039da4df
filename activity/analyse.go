package activity

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// Analysis is what a trace says.
type Analysis struct {
	ActiveRatio float64
	Combs       []Comb
	// Tick is the comb of this kernel's timer, nil where none was found.
	Tick *Comb
	// Causes of inactivity, each with what it took.
	Causes map[Cause]Total
	// ClockHz is the rate of the trace's clock that the kernel's tick implies, if
	// that has its nominal period (homework 9.9 C); NaN without a tick.
	ClockHz float64
	// Undisturbed says how likely a stretch of work is not disturbed.
	Undisturbed []Undisturbed
	// SliceNs is how long the thread typically ran between two preemptions, NaN
	// where it was never preempted twice.
	SliceNs float64
	// WaitNs is the run-queue wait that the kernel counted during the trace.
	WaitNs float64
}

// Total is what a cause took.
type Total struct {
	Count            int
	TotalNs, WorstNs float64
}

// Undisturbed says how work of a length fares on a machine like the trace's
// (Bryant 2003, practice problem 9.7).
type Undisturbed struct {
	LengthNs float64
	// Probability that it runs without any gap that is not the recording's own,
	// starting at a moment when the thread is active, and
	// Trials that are expected for three such runs; +Inf where none would.
	Probability, Trials float64
	// Unpreempted and UnpreemptedTrials count only gaps in which the thread lost
	// its CPU to another.
	Unpreempted, UnpreemptedTrials float64
}

// Analyse puts each gap of the trace down to a cause, as Gap.Cause, and sums up.
func Analyse(t *Trace) *Analysis {
	for i := range t.Gaps {
		t.Gaps[i].Cause = Unexplained
		if t.Gaps[i].Own {
			t.Gaps[i].Cause = Runtime
		}
	}
	a := &Analysis{ActiveRatio: t.ActiveRatio(), Causes: map[Cause]Total{}, ClockHz: math.NaN()}
	t.blameSwitches()
	a.Combs = t.combs(t.hints())
	t.blameCombs(a)
	t.blameRest()
	a.sum(t)
	return a
}

// hints are the periods that the kernel's own timer may have.
func (t *Trace) hints() []float64 {
	if t.Kernel.TickHz > 0 {
		return []float64{1e9 / t.Kernel.TickHz}
	}
	return nil
}

// blameSwitches settles the gaps that the kernel's counters explain. A join that
// accounts for several gaps settles those that make up a good part of them.
func (t *Trace) blameSwitches() {
	cpu := t.CPU
	for _, j := range t.Joins {
		var ticks int64
		for _, g := range t.Gaps[j.From : j.Gap+1] {
			ticks += g.Ticks
		}
		if cause := j.cause(t.Ns(ticks), t.Ns(j.Ticks), cpu); cause != Unexplained {
			for i := j.From; i <= j.Gap; i++ {
				if 10*t.Gaps[i].Ticks > ticks {
					t.Gaps[i].Cause = cause
				}
			}
		}
		cpu = j.Use.CPU
	}
}

// parkedNs is the most that the Go scheduler is taken to park the thread for.
const parkedNs = 1e6

// mostOf a gap is the share that a counter must explain to be its cause.
const mostOf = 0.5

// cause says what the counters of a join make of its gap, of gapNs, given the
// time since the look before, and the CPU then (-1 where that is not known).
//
// The reading loop never waits for anything, so that a voluntary switch in it
// can only be a stop; between two spells the Go scheduler parks the thread now
// and then, for far less than a millisecond. What is missing from its CPU time
// without a wait was taken by the hypervisor, where the kernel knows of steal.
func (j Join) cause(gapNs, sinceNs float64, cpu int) Cause {
	use := j.Use
	wait := float64(use.WaitNs)
	missing := sinceNs - float64(use.CPUNs) - wait
	switch {
	case j.Throttled:
		return Throttled
	case j.Between && gapNs < parkedNs && wait < mostOf*gapNs:
		return Runtime
	case use.VoluntarySwitches > 0 && wait < mostOf*gapNs:
		return Stopped
	case cpu >= 0 && use.CPU != cpu:
		return Migrated
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
	for i := range a.Combs {
		c := &a.Combs[i]
		c.Source = Hypervisor
		if a.Tick == nil && t.isTick(*c) {
			c.Source, a.Tick = TimerTick, c
			if t.Kernel.TickHz > 0 {
				a.ClockHz = c.PeriodNs.Value / t.TickNs * t.Kernel.TickHz
			}
		}
		if c.Source == Hypervisor && !t.Kernel.Virtual {
			c.Source = Interrupt // a device's, or a firmware's
		}
		for _, i := range c.Gaps {
			if t.Gaps[i].Cause == Unexplained {
				t.Gaps[i].Cause = c.Source
			}
		}
	}
}

// isTick reports that the comb is this kernel's: it has the period of the
// kernel's tick, and the kernel counted about as many timer interrupts or more
// (a local timer also serves sleepers).
func (t *Trace) isTick(c Comb) bool {
	if t.Kernel.TickHz > 0 && math.Abs(c.PeriodNs.Value*t.Kernel.TickHz/1e9-1) > hintReach {
		return false
	}
	return !t.Kernel.Known || float64(t.Kernel.TimerInterrupts) > 0.8*float64(len(c.Gaps))
}

// blameRest settles what no switch and no comb explains. As many of the gaps as
// the kernel counted other interrupts are put down to these, the longest first,
// as an interrupt takes longer than whatever else a core does; on a virtual
// machine the others of an interrupt's length are the hypervisor's.
func (t *Trace) blameRest() {
	left := t.Kernel.OtherInterrupts
	if t.Kernel.Known {
		ticks := uint64(0)
		for _, g := range t.Gaps {
			if g.Cause == TimerTick {
				ticks++
			}
		}
		if t.Kernel.TimerInterrupts > ticks {
			left += t.Kernel.TimerInterrupts - ticks // timers of sleepers
		}
	}
	var rest []int
	for i, g := range t.Gaps {
		if g.Cause == Unexplained && t.Ns(g.Ticks) >= shortestInterruptNs {
			rest = append(rest, i)
		}
	}
	slices.SortFunc(rest, func(i, j int) int { return cmp.Compare(t.Gaps[j].Ticks, t.Gaps[i].Ticks) })
	for n, i := range rest {
		switch {
		case uint64(n) < left:
			t.Gaps[i].Cause = Interrupt
		case t.Kernel.Virtual:
			t.Gaps[i].Cause = Hypervisor
		}
	}
}

// shortestInterruptNs is the least that serving an interrupt takes: entry, exit
// and acknowledgement alone are several hundred nanoseconds.
const shortestInterruptNs = 500

// sum fills in what follows from the causes.
func (a *Analysis) sum(t *Trace) {
	for _, g := range t.Gaps {
		total := a.Causes[g.Cause]
		total.Count++
		total.TotalNs += t.Ns(g.Ticks)
		total.WorstNs = math.Max(total.WorstNs, t.Ns(g.Ticks))
		a.Causes[g.Cause] = total
	}
	for _, j := range t.Joins {
		a.WaitNs += float64(j.Use.WaitNs)
	}
	all := t.activeStretches(func(c Cause) bool { return c != Runtime })
	kept := t.activeStretches(func(c Cause) bool { return c == Preempted || c == Throttled || c == Migrated || c == Stopped })
	a.SliceNs = stats.Median(kept[:max(0, len(kept)-1)])
	for _, length := range []float64{1e3, 10e3, 100e3, 1e6, 10e6, 100e6} {
		u := Undisturbed{LengthNs: length}
		u.Probability, u.Trials = ExpectedTrials(all, length)
		u.Unpreempted, u.UnpreemptedTrials = ExpectedTrials(kept, length)
		a.Undisturbed = append(a.Undisturbed, u)
	}
}

// activeStretches are the times, in nanoseconds, between gaps of the causes that
// disturb; other gaps count as part of the stretch.
func (t *Trace) activeStretches(disturbs func(Cause) bool) []float64 {
	var stretches []float64
	from := int64(0)
	for _, g := range t.Gaps {
		if disturbs(g.Cause) {
			stretches = append(stretches, t.Ns(g.Start-from))
			from = g.End()
		}
	}
	return append(stretches, t.Ns(t.Length-from))
}

// ExpectedTrials is the probability that work of a length, begun at any moment
// of the active stretches, is done before the stretch ends, and the trials
// expected for three that are (Bryant 2003, practice problem 9.7). The trials
// are +Inf where no stretch is long enough.
func ExpectedTrials(stretchesNs []float64, lengthNs float64) (probability, trials float64) {
	var room, total float64
	for _, s := range stretchesNs {
		room += math.Max(0, s-lengthNs)
		total += s
	}
	if total > 0 {
		probability = room / total
	}
	return probability, 3 / probability
}
