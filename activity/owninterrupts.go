package activity

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// OwnInterrupts bounds the time of this kernel's interrupts other than its timer's. The kernel
// counts how many of the otherwise unexplained gaps were interrupts, but not which.
type OwnInterrupts struct {
	// Counted, the kernel's count, is an upper bound of the number of such interrupts with a gap of
	// their own, and Fewest a lower bound: the others may have fallen into gaps of other causes.
	Counted int `json:"counted"`
	Fewest  int `json:"fewest"`
	// Gaps is the number of gaps that are as long as an interrupt and that nothing else explains.
	// LeastNs and MostNs bound the time of the interrupts among them: they are the sums of the
	// Fewest shortest and of the Counted longest of these gaps.
	Gaps    int     `json:"gaps"`
	LeastNs float64 `json:"least_ns"`
	MostNs  float64 `json:"most_ns"`
	// Open is the number of these gaps that stay unexplained.
	Open int `json:"open"`
}

// blameRest sets the cause of gaps that no switch and no comb explains, as far as the kernel's
// count of its own interrupts allows. The count says how many of these gaps were interrupts, but
// not which: they may have been the shortest or the longest. A gap that gets the same cause in
// both cases has that cause; any other stays unexplained. So the true time of a cause lies
// between the time attributed to it and that time plus the unexplained time.
//
// It returns [Interrupts.Counted] and [Interrupts.Sleepers]: timer interrupts beyond those of the tick woke a sleeping
// thread.
func (t *Trace) blameRest(a *Analysis) (timers, sleepers *int) {
	if !t.Kernel.Known {
		return nil, nil
	}
	counted := t.counted(t.Kernel.TimerInterrupts)
	waking := counted
	if a.Tick != nil {
		waking = max(0, counted-len(a.Tick.Gaps)-a.Tick.Hidden)
	}
	rest := make([]int32, 0, len(t.Gaps)) // indices of gaps
	var lost, away float64                // away is the part of lost in which others had the CPU
	hidden := 0                           // greatest number of interrupts that may have begun or ended other threads' turns, or fallen into the recording's own gaps
	leastNs := leastInterruptNs(a.Tick)
	ownNs := t.usualOwnNs()
	for i, g := range t.Gaps {
		lost += float64(g.Ticks)
		switch ns := t.Ns(g.Ticks); {
		case g.Cause.LostCPU():
			hidden += 2
			away += float64(g.Ticks)
		case g.Cause == Runtime && ns >= ownNs+leastNs:
			hidden++
		}
		if !t.isRest(i) {
			continue
		}
		if t.Ns(g.Ticks) < leastNs && t.mayBlameHost() {
			t.Gaps[i].Cause = Hypervisor
		} else {
			rest = append(rest, int32(i))
		}
	}
	slices.SortStableFunc(rest, func(i, j int32) int { return cmp.Compare(t.Gaps[i].Ticks, t.Gaps[j].Ticks) })
	most := t.counted(t.Kernel.OtherInterrupts) + waking
	n := len(rest)
	seen := float64(max(t.seen(), 1))
	fewest := min(seenOf(most-hidden, lost/seen), n)
	if away > othersShare*seen {
		fewest = 0
	}
	most = min(most, n)
	waking = min(waking, most)
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
	return &counted, &waking
}

// usualOwnNs returns the median length of the gaps that the recording itself makes; 0 without any.
func (t *Trace) usualOwnNs() float64 {
	var own []float64
	for _, g := range t.Gaps {
		if g.Cause == Runtime {
			own = append(own, t.Ns(g.Ticks))
		}
	}
	if len(own) == 0 {
		return 0
	}
	return stats.Median(own)
}

// seenOf returns a lower bound of the number of interrupts, out of n, that began a gap of their
// own. The others fell into gaps of other causes, which take the share lost of the time. The
// bound is three standard deviations below the expected number.
func seenOf(n int, lost float64) int {
	n = max(n, 0)
	hidden := float64(n) * lost
	return max(0, int(float64(n)-hidden-3*math.Sqrt(hidden)-1))
}

// othersShare is the share of the time beyond which all of the kernel's interrupts may have come while others had the CPU.
// They may be timers that these others set: of 2,400 such interrupts beside seven loops, none interrupted the recording.
const othersShare = 0.1

// mayBlameHost reports whether a gap may be attributed to the hypervisor because everything else is
// ruled out: there is a hypervisor, and the kernel's counts of interrupts and of the thread are
// known.
func (t *Trace) mayBlameHost() bool {
	return t.Kernel.Virtual && t.Kernel.Known && !t.Unwatched
}

// isRest reports whether gap i is long enough to be an interrupt and is still unexplained.
func (t *Trace) isRest(i int) bool {
	g := t.Gaps[i]
	return g.Cause == Unexplained && t.Ns(g.Ticks) >= shortestInterruptNs
}

// leastInterruptNs returns a lower bound of the time that an interrupt of this kernel takes, given its tick. Each
// interrupt needs the tick's entry, acknowledgement and exit, which are most of its least cost where a hypervisor
// delivers it: on a guest of KVM whose tick took 15 µs and more, the shortest other interrupts took 7 µs.
func leastInterruptNs(tick *Comb) float64 {
	const share = 0.25
	if tick == nil || !(tick.MinNs.Value() > shortestInterruptNs/share) {
		return shortestInterruptNs
	}
	return share * tick.MinNs.Value()
}

// shortestInterruptNs is the least time that serving an interrupt takes: entry, exit and
// acknowledgement alone take several hundred nanoseconds.
const shortestInterruptNs = 500
