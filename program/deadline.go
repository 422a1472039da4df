package program

import (
	"math"

	"chronoscope/process"
)

// blocks are how often threads of the program gave up their CPUs.
func blocks(events []process.Event) (n int) {
	for _, e := range events {
		if e.Kind == process.Blocked && e.AtNs > 0 {
			n++
		}
	}
	return n
}

// allowForDeadline takes a program that is known to ask for so many waits that may end at a
// time, and that blocked less often in this run, or for no time worth the name. Then one
// of them may have been over before it began, or nearly, for what disturbed the run: alone
// the program would have slept. It would have come to each deadline earlier, so that the
// run as it was bounds its time. Programs of several threads often ask for waits that
// never last, and have bounds that are wide as it is: for them the verdict says it.
func (r *Run) allowForDeadline(timedWaits, blocks int) {
	t := r.traced
	passable := math.Max(passableNs, passableShare*t.wallNs)
	alone := t.threads == 1
	if !r.noted || timedWaits == 0 || r.BlockedNs > passable && (!alone || blocks >= timedWaits) {
		return
	}
	waited := t.deficientNs
	if alone { // threads also wait for one another's CPUs
		waited = math.Max(waited, known(r.RunqueueWaitNs))
		r.unsleptNs = t.wallNs
	}
	r.late = waited > passable
}

// mostlyLate tells whether most runs that count may have passed a deadline.
func (c *conclusion) mostlyLate() bool {
	late := 0
	for _, r := range c.used {
		if r.late {
			late++
		}
	}
	return 2*late > len(c.used)
}
