package validate

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// traced does a work in short steps, and reads the counter after each step. That is an activity
// trace (Bryant 2003, section 9.1) of the same run that is measured. If a step took longer than
// usual, something else had the CPU for the difference.
type traced struct {
	do    func(rounds int)
	clock clock.Rated
	// rounds is the number of rounds in a step, which usually takes usualNs. A step of more than
	// leastNs was interrupted.
	rounds           int
	usualNs, leastNs float64
	lostNs           float64 // summed since it was last set to 0
}

const (
	// stepNs is the length of a step: much longer than a reading of the counter takes, and shorter
	// than a timer interrupt.
	stepNs      = 2e3
	stepsLooked = 400
	// interruptedShare is the least share by which an interrupted step is longer than usual: far more
	// than the rate of a core varies.
	interruptedShare = 0.15
)

// newTraced returns the work of a reference in traced steps.
func newTraced(plain *reference) *traced {
	t := &traced{do: plain.do, clock: plain.clock, rounds: max(1, int(stepNs/plain.fit.RoundNs)), leastNs: math.Inf(1)}
	var times []float64
	last := t.clock.Read()
	for range stepsLooked {
		t.do(t.rounds)
		now := t.clock.Read()
		times = append(times, t.clock.Ns(now-last))
		last = now
	}
	t.follow(level{middle: stats.QuantileOf(times, escaped) / float64(t.rounds)})
	return t
}

// follow updates the usual time of a step, so that a core that has become slower does not count as
// interrupts.
func (t *traced) follow(l level) {
	t.usualNs = l.middle * float64(t.rounds)
	t.leastNs = (1+interruptedShare)*t.usualNs + 2*t.clock.AccuracyNs
}

// run does the given number of rounds, in steps. The last step is shorter, or empty.
func (t *traced) run(rounds int) {
	last := t.clock.Read()
	for ; rounds >= t.rounds; rounds -= t.rounds {
		t.do(t.rounds)
		now := t.clock.Read()
		if ns := t.clock.Ns(now - last); ns > t.leastNs {
			t.lostNs += ns - t.usualNs
		}
		last = now
	}
	t.do(rounds)
}

// aroundShare is the length of the trace of the CPU before each run of traced work, and of the one after it, as a share
// of the run. shortestAround and mostAround limit this length, in nanoseconds.
const (
	aroundShare                = 0.5
	shortestAround, mostAround = 50e6, 500e6
)

// aroundNs returns how long the CPU is traced before a run of the given length, and again after it.
func aroundNs(durationNs float64) float64 {
	return math.Max(shortestAround, math.Min(mostAround, aroundShare*durationNs))
}

// watch does the work for ns, and returns the losses.
func (t *traced) watch(ns float64) (l Losses) {
	begin := t.clock.Read()
	last := begin
	for sumNs := 0.; l.WatchedNs < ns; {
		t.do(t.rounds)
		now := t.clock.Read()
		l.WatchedNs = t.clock.Ns(now - begin)
		if step := t.clock.Ns(now - last); step > t.leastNs {
			sumNs += step - t.usualNs
			l.All = append(l.All, Loss{t.clock.Ns(last - begin), sumNs})
		}
		last = now
	}
	return l
}

// Compensation compares the error of the source's K-best, in a cell without competitors, with the
// part that the compensation for timer interrupts removes (Bryant 2003, Figure 9.16). It describes
// the sample that K-best with K = 3 chooses. All times are nanoseconds.
type Compensation struct {
	DurationNs float64 `json:"duration_ns"` // the planned duration
	// ErrorNs is how much longer the sample was than the short runs just before and just after it
	// imply. LostNs is the time that the sample's own trace shows as lost, less the time that the
	// sample waited for other threads, as the kernel counts it: what interrupts took.
	ErrorNs float64 `json:"error_ns"`
	LostNs  float64 `json:"lost_ns"`
	// RemovedNs is what compensation subtracts, by traces from just before and just after the
	// sample.
	RemovedNs float64 `json:"removed_ns"`
	// Residual is the remaining error, as a share of the truth.
	Residual float64 `json:"residual"`
	// OwnResidual is the error of package kbest on the same samples, as a share; missing if it
	// gives no estimate.
	OwnResidual stats.Float `json:"own_residual"`
}

// sourceK is the value of K that the source uses.
const sourceK = 3

// CompensationOf evaluates the traced cells without competitors.
func CompensationOf(streams []*Stream) []Compensation {
	all := []Compensation{}
	for _, s := range streams {
		made, _ := s.made(sourceK, byCounter)
		if s.Load != 1 || len(made) < sourceK || !made[0].LostNs.Known() {
			continue
		}
		x := made[0]
		truth := s.near(x.Sample)
		c := Compensation{
			DurationNs: float64(s.Duration), ErrorNs: x.ns - truth,
			LostNs: math.Max(0, x.LostNs.Value()-x.WaitNs), RemovedNs: s.around(x.Sample).leastOf(1, len(made), x.ns),
		}
		c.Residual = (c.ErrorNs - c.RemovedNs) / truth
		c.OwnResidual = stats.FloatOf(s.KBest.Estimate.Value/s.Expected.Value - 1)
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Compensation) int { return cmp.Compare(a.DurationNs, b.DurationNs) })
	return all
}

// near returns the truth of one sample, by the batches next to it. The least sample comes from a
// moment at which the core was fast, so that it would look too short compared with the truth of the
// whole cell.
func (s *Stream) near(x Sample) float64 {
	return s.Fit.StartNs + float64(s.Rounds)*(x.BeforeNs+x.AfterNs)/2
}
