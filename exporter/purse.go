package exporter

import "time"

// purse is the CPU time that the process may still use, as a token bucket. Within any hour at most share × 1 h
// is granted: up to a tenth of that may be saved and spent at once, 85 % come in evenly, and 5 % are left for
// turns that cost more than those before.
type purse struct {
	share        float64       // of one CPU
	savedSeconds float64       // below 0 if more was used than was granted
	asOf         time.Duration // since the start
	used         time.Duration // by the process, as of then
}

const (
	budgetWindow = time.Hour
	savedShare   = 0.1
	incomeShare  = 0.85
	// leastWaitedFor is the CPU time for which it is worth to wait. To wake up and look takes a millisecond: short waits for
	// what is missing in the end would use up a small income.
	leastWaitedFor = 10 * time.Millisecond
)

// newPurse returns a full purse. The CPU time that the start of the process took is charged at the first call
// of at.
func newPurse(share float64) purse {
	p := purse{share: share}
	p.savedSeconds = p.mostSeconds()
	return p
}

// mostSeconds is the most CPU time that can be saved, in seconds.
func (p purse) mostSeconds() float64 { return budgetWindow.Seconds() * p.share * savedShare }

// income is the CPU time that is granted, as a share of the time that passes.
func (p purse) income() float64 { return p.share * incomeShare }

// at returns the purse at a later time, given the CPU time that the process has used in all.
func (p purse) at(now, used time.Duration) purse {
	p.savedSeconds = min(p.savedSeconds+(now-p.asOf).Seconds()*p.income(), p.mostSeconds()) - (used - p.used).Seconds()
	p.asOf, p.used = now, used
	return p
}

// most is the largest cost that can be afforded: less than can be saved, since scrapes go on while it is saved.
func (p purse) most() time.Duration { return time.Duration(0.95 * p.mostSeconds() * 1e9) }

// until returns how long it takes until cost can be afforded; false if it never can.
func (p purse) until(cost time.Duration) (time.Duration, bool) {
	if cost > p.most() {
		return 0, false
	}
	missing := cost.Seconds() - p.savedSeconds
	if missing <= 0 {
		return 0, true
	}
	return time.Duration(max(missing, leastWaitedFor.Seconds()) / p.income() * 1e9), true
}

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
