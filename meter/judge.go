package meter

import (
	"fmt"
	"math"

	"chronoscope/stats"
)

// Limits above which a report names a reason or a caveat.
const (
	// raggedShare is the share of the calls that saw the clock move for which the movement may
	// differ from a whole number of ticks.
	raggedShare = 0.01
	// rateError is the largest relative difference of the clock's rate from that of Go's monotonic
	// clock. The rates are compared after rateTicks ticks.
	rateError = 0.01
	rateTicks = 1000
	// queuedShare is the share of the calls for which the wait before the call was longer than the call.
	queuedShare = 0.01
)

// judge adds the verdict, its reasons and the caveats.
func (r *Report) judge(parts []Part) {
	if r.Measured == 0 {
		r.Lower(stats.Unusable, "no call was measured")
	}
	if bounds := r.Mean.Lo + r.Mean.Value + r.Mean.Hi; r.Measured > 0 && (math.IsNaN(bounds) || math.IsInf(bounds, 0)) {
		r.Lower(stats.Unusable, "no interval comes of %d measured calls: one call alone has none, nor have sums that did not fit or contradict one another; wait for more calls, or merge fewer meters", r.Measured)
	}
	for _, p := range parts {
		if p.Lengths == nil {
			p.judgeEdges(&r.Judgement)
			r.Caveats = append(r.Caveats, p.coarseCaveats()...)
		}
		p.judgeFaults(&r.Judgement)
		if t := p.Tails; t != nil && float64(t.Queued) > queuedShare*float64(t.FromIntended.Count()) {
			r.Caveats = append(r.Caveats, fmt.Sprintf("%d of %d calls waited longer before they began than they took then: what their callers waited is in from_intended, and not in tails", t.Queued, t.FromIntended.Count()))
		}
	}
	if r.Verdict != stats.Unusable {
		r.JudgeWidth(r.Mean, 0, "wait for more calls")
	}
	if r.TickBias.Hi > r.Mean.HalfWidth() {
		r.Caveats = append(r.Caveats, fmt.Sprintf("the interval of the mean is narrower than the bias that the tick itself may cause: take the mean as known within +-%.3g %%, or time calls with a fine clock (meter.Counter)", 50*(r.MeanWithBias().Hi-r.MeanWithBias().Lo)/r.Mean.Value))
	}
	if r.Measured < r.Calls {
		r.Caveats = append(r.Caveats, fmt.Sprintf("%d of %d calls were measured, and stand for all: slow ones that are rarer than 1 in %d may not be among them", r.Measured, r.Calls, max(1, r.Measured/ruleOfThree)))
	}
}

// ruleOfThree: if none of n calls that were chosen at random was slow, the share of slow ones is below 3/n in 95 of 100
// cases.
const ruleOfThree = 3

// judgeEdges judges what depends on the edges of a coarse clock.
func (p Part) judgeEdges(j *stats.Judgement) {
	switch {
	case p.Measured == 0:
	case p.Edges < fewEdges:
		j.Lower(stats.Suspect, "%d of %d calls saw an edge of %s: that bounds the mean, but hardly tells it; wait for %d and more (1,000 for some 6 %%, 10,000 for 2.5 %%)",
			p.Edges, p.Measured, p.Clock, fewEdges)
	case p.Groups.Count < fewEdges:
		j.Lower(stats.Suspect, "the %d calls that saw an edge of %s saw %d different ones: calls that see an edge together count for one, and the interval may be too narrow; wait for %d and more",
			p.Edges, p.Clock, p.Groups.Count, fewEdges)
	}
	if float64(p.Faults.Between) > raggedShare*float64(p.Edges+p.Faults.Between) {
		j.Lower(stats.Unusable, "in %d calls %s did not move by a whole number of ticks of %g ns: its tick is another; give the right one, or use meter.Counter where it is finer",
			p.Faults.Between, p.Clock, p.TickNs)
	}
	if found, ok := p.Phases.locked(); ok {
		j.Lower(stats.Suspect, "phase lock: the calls keep to %d place(s) in the tick of %s, so that the mean may be off by %.0f %%, and by many times that where calls are short beside the tick, whatever its interval says; let calls start at random times, or time them with a fine clock (meter.Counter)",
			found.places, p.Clock, 100*found.bias)
	}
	if edges := p.MeanNs(); p.Timed.contradicts(edges) {
		mean, standardError := p.Timed.mean()
		j.Lower(stats.Unusable, "%d calls that Go's monotonic clock timed took %.4g +- %.2g ns on average, and the edges of %s say %.4g to %.4g ns: its edges avoid these calls, as those of a kernel do that stops its tick while idle; time calls with a fine clock (meter.Counter)",
			p.Timed.Count, mean, 1.96*standardError, p.Clock, edges.Lo, edges.Hi)
	}
	if p.Timed.ticksUnevenly() {
		j.Lower(stats.Unusable, "%s does not tick evenly: at the end of %d of %d calls it was behind by an unusual time, as that of a kernel is which stops its tick while idle; time calls with a fine clock (meter.Counter)", p.Clock, p.Timed.Uneven, p.Timed.Count)
	}
	if rate := p.ElapsedTicks * p.TickNs / p.ElapsedNs; p.ElapsedNs > rateTicks*p.TickNs && math.Abs(rate-1) > rateError {
		j.Lower(stats.Suspect, "%s ran at %.3f of its rate beside Go's monotonic clock: it was set, its tick is another, or whoever advances it does not come to it", p.Clock, rate)
	}
}

// judgeFaults gives a reason for each kind of fault that occurred.
func (p Part) judgeFaults(j *stats.Judgement) {
	f := p.Faults
	if f.Foreign > 0 {
		j.Lower(stats.Suspect, "%d times Stop was called for what this meter had not started; they were left out", f.Foreign)
	}
	if f.Backward > 0 {
		j.Lower(stats.Suspect, "in %d calls %s went back; they were left out", f.Backward, p.Clock)
	}
	if f.Steps > 0 {
		j.Lower(stats.Suspect, "%s was set %d time(s), and %d calls in progress were left out; use a monotonic clock", p.Clock, f.Steps, f.Stepped)
	}
}

// coarseCaveats returns the caveats of timing by a coarse clock (Falco 2009).
func (p Part) coarseCaveats() []string {
	caveats := []string{fmt.Sprintf("%s ticks every %g ns: mean and total are all that it can tell, and the tick itself, which sets work off, may move the mean by %g %% beside its interval", p.Clock, p.TickNs, 100*atTheTick)}
	if p.Phases.Count < fewestPhases {
		caveats = append(caveats, fmt.Sprintf("too few calls for a look at phase lock: %d ticks with a look, %d needed", p.Phases.Count, fewestPhases))
	}
	if p.Vouched != "" {
		caveats = append(caveats, fmt.Sprintf("that %s is unbiased is the caller's word: %s", p.Clock, p.Vouched))
	}
	return caveats
}
