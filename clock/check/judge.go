package check

import (
	"fmt"
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

const (
	// driftTolerance is the drift in ppm that the kernel's own test raw_skew allows.
	driftTolerance = 1.0
	// tellingPPM is the largest half-width of a drift's interval with which the drift may be
	// called right; tellingNs is the same for the offset of two CPUs.
	tellingPPM = 1000
	tellingNs  = 100e3
	// fewestLooks is the least number of looks that tells a clock's rate.
	fewestLooks = 8
)

// judgeOrder judges whether readings of one thread step back.
func (r *Report) judgeOrder(s *subject) {
	if s.order.Readings == 0 {
		return
	}
	f := newFinding(s.Name, OrderWithin)
	f.worst(float64(s.order.Worst) * s.tickNs())
	if b := s.order; b.Count > 0 {
		f.Lower(stats.Unusable, "%d of %d readings of one thread step back, by up to %s", b.Count, b.Readings, s.length(b.Worst))
	}
	r.add(f)
}

// judgeWrap judges whether the counter starts over, and when it will; width is its width in
// bits. Steps back that are no wraps count as faults of the clock's order.
func (r *Report) judgeWrap(s *subject) (width int) {
	if s.rate != nil {
		width = wrapBits(s.rate.sandwiches, s.tickNs(), tickNs(s.rate.reference))
	}
	if width == 0 {
		s.order.Add(s.wraps)
		s.order.Add(s.between)
		s.across.fenced.Add(s.across.wraps)
	}
	if width == 0 && (s.Kind != clock.KindCounter || !s.keepsTime) {
		return 0
	}
	f := newFinding(s.Name, Wrap)
	turnNs := math.Ldexp(1, s.bits) * s.tickNs()
	left := turnNs - math.Mod(float64(uint64(s.last)), math.Ldexp(1, s.bits))*s.tickNs()
	switch {
	case width > 0:
		every := math.Ldexp(1, width) * s.tickNs()
		f.worst(every)
		f.Lower(stats.Suspect, "the counter has %d bits and starts over every %s: add that to a difference that is negative, and time nothing that is longer", width, stats.Duration(every, 4))
	case left < day:
		f.worst(turnNs)
		f.Lower(stats.Suspect, "the counter has %d bits: it will start over in %s, and then every %s", s.bits, stats.Duration(left, 4), stats.Duration(turnNs, 4))
	default:
		f.note("with %d bits it will start over in %s", s.bits, stats.Duration(left, 4))
	}
	r.add(f)
	return width
}

const day = 86400e9 // ns

// judgeWatch judges whether a clock that keeps time stood still, stepped, changed its rate or drifted, by its readings
// between readings of a reference clock. It skips questions that can't be answered. width is the number of bits at
// which the counter was seen to wrap, or 0. k is the kernel's discipline of its clocks.
func (r *Report) judgeWatch(s *subject, width int, k kept) {
	w := s.rate
	if w == nil {
		r.skip(Drift, s.Name, "there is no other clock to hold it against, or its tick is not known")
		return
	}
	if len(w.sandwiches) < fewestLooks {
		r.skip(Drift, s.Name, "it was looked at %d times only; %d would do", len(w.sandwiches), fewestLooks)
		return
	}
	sandwiches := w.sandwiches
	if width > 0 {
		sandwiches = unwrapped(sandwiches, width, s.tickNs(), tickNs(w.reference))
	}
	accuracyNs := s.accuracyNs()
	if !s.measurable() {
		accuracyNs = s.tickNs()
	}
	if limit := lateness * accuracyNs; w.spanNs() <= limit {
		r.skipAll(s, tooBrief)
		return
	}
	if !s.measurable() {
		if accuracyNs = stoodShare * w.spanNs() / lateness; standstill(w.pairs(sandwiches)) <= lateness*accuracyNs {
			r.skipAll(s, "its accuracy is not known: a longer measurement may tell")
			return
		}
	}
	if r.judgeStanding(s, w.pairs(sandwiches), accuracyNs) {
		return // all further findings would report the same fault again
	}
	if s.standard {
		for _, q := range []Question{Stepped, RateChange, Drift} {
			r.skip(q, s.Name, "the other clocks are held against it, and where two disagree it is believed")
		}
		return
	}
	whole, ok := r.judgeSteps(s, sandwiches, k)
	if !ok {
		return
	}
	r.judgeRateChange(s, whole)
	r.judgeDrift(s, whole, k)
}

// skipAll skips each question about a clock's course.
func (r *Report) skipAll(s *subject, why string) {
	for _, q := range []Question{Stuck, Stepped, RateChange, Drift} {
		r.skip(q, s.Name, "%s", why)
	}
}

const tooBrief = "watched too briefly for its steps: a longer check may tell"

// stoodShare is a share of the time for which a clock of unknown accuracy was watched. It stood still if it did so for
// longer.
const stoodShare = 0.9

// judgeStanding judges, and reports, whether the clock, which has the given accuracy, stood still.
func (r *Report) judgeStanding(s *subject, pairs []Pair, accuracyNs float64) (stood bool) {
	still := standstill(pairs)
	stood = still > lateness*accuracyNs
	f := newFinding(s.Name, Stuck)
	f.worst(still)
	if stood {
		f.Lower(stats.Unusable, "it stood still for %s or more of the %s that it was watched", stats.Duration(still, 4), stats.Duration(s.rate.spanNs(), 4))
	}
	r.add(f)
	return stood
}

// judgeSteps judges whether the clock was set or jumped. It returns the sandwiches of the
// longest stretch without a step. If the clock steps all the time, its rate changes, and ok is
// false.
func (r *Report) judgeSteps(s *subject, sandwiches []clock.Sandwich, k kept) (whole []clock.Sandwich, ok bool) {
	found := jumps(s.rate.pairs(sandwiches), s.accuracyNs(), s.rate.bend)
	q, set := Stepped, found
	if s.steps != s.rate {
		set = jumps(s.steps.pairs(s.steps.sandwiches), s.accuracyNs(), s.steps.bend)
	}
	if s.CountsSuspend == clock.Yes && !s.Settable {
		q = Suspended
	}
	f := newFinding(s.Name, q)
	if len(set) > fewJumps {
		f.Check = RateChange
		f.Lower(stats.Unusable, "its rate changed%s against %s, or it jumped: in %d of %d looks it was not where the look before let expect",
			byPPM(KeepsRate(s.rate.pairs(sandwiches))), s.steps.reference.Name, len(set), len(sandwiches))
		r.add(f)
		return nil, false
	}
	f.worst(0)
	for _, j := range set {
		if math.Abs(j.sizeNs) > f.WorstNs.Value() {
			f.worst(math.Abs(j.sizeNs))
		}
		f.Lower(stepVerdict(q), "%s", stepText(q, j, s, k))
	}
	r.add(f)
	return longestPiece(sandwiches, found), true
}

// byPPM returns by how much a rate changed, as text. It is empty if that is not known: a clock
// that stood still for most of the time has no rate to compare with.
func byPPM(r Rate) string {
	if math.IsNaN(r.WorstDeviation) || math.IsInf(r.WorstDeviation, 0) {
		return ""
	}
	return fmt.Sprintf(" by %.4g ppm", 1e6*r.WorstDeviation)
}

func stepVerdict(q Question) stats.Verdict {
	if q == Suspended {
		return stats.Suspect
	}
	return stats.Unusable
}

func stepText(q Question, j jump, s *subject, k kept) string {
	size, reference := stats.Duration(math.Abs(j.sizeNs), 4), s.steps.reference.Name
	switch {
	case q == Suspended && j.sizeNs > 0:
		return "the machine was suspended for " + size + ": it ran on, and " + reference + " stood still"
	case s.Settable && k.before.leapPending && math.Abs(math.Abs(j.sizeNs)-1e9) < 1e7:
		return "it stepped " + either(j.sizeNs > 0, "forth", "back") + " by " + size + ", a leap second"
	case s.Settable:
		return "it was set " + either(j.sizeNs > 0, "forth", "back") + " by " + size + " while it was watched (by hand, by a time daemon, or after a suspend)"
	}
	return "it jumped " + either(j.sizeNs > 0, "forth", "back") + " by " + size + " against " + reference
}

// longestPiece returns the longest run of sandwiches between jumps.
func longestPiece(sandwiches []clock.Sandwich, found []jump) []clock.Sandwich {
	longest, from := []clock.Sandwich(nil), 0
	for _, j := range append(found, jump{before: len(sandwiches) - 1}) {
		if piece := sandwiches[from : j.before+1]; len(piece) > len(longest) {
			longest = piece
		}
		from = j.before + 1
	}
	return longest
}

// judgeRateChange judges whether the clock kept its rate. It does not judge a clock whose steps
// are too coarse to show that.
func (r *Report) judgeRateChange(s *subject, sandwiches []clock.Sandwich) {
	rate := KeepsRate(s.rate.pairs(sandwiches))
	if !(rate.Resolution*1e6 < tellingPPM) {
		r.skip(RateChange, s.Name, "%s", tooBrief)
		return
	}
	f := newFinding(s.Name, RateChange)
	spanNs := sandwiches[len(sandwiches)-1].MiddleSince(sandwiches[0]) * tickNs(s.rate.reference)
	f.worst(rate.WorstDeviation * spanNs / stretches)
	// The rate of each stretch may be off by the resolution, and so may their median.
	if rate.WorstDeviation > s.rate.bend+2*rate.Resolution {
		f.Lower(stats.Unusable, "its rate changed by %.4g ppm while it was watched", 1e6*rate.WorstDeviation)
	}
	r.add(f)
}

// judgeDrift judges by how much the clock runs faster than the reference. A difference that the
// system's own slewing explains is no fault.
func (r *Report) judgeDrift(s *subject, sandwiches []clock.Sandwich, k kept) {
	e := drift(s.rate, sandwiches)
	if math.IsNaN(e.Value) {
		r.skip(Drift, s.Name, "no constant rate explains its readings")
		return
	}
	off := e.Lo > driftTolerance || e.Hi < -driftTolerance
	if !off && e.HalfWidth() > tellingPPM {
		r.skip(Drift, s.Name, "%s", tooBrief)
		return
	}
	reference := s.rate.reference.Name
	if off && (s.disciplined || disciplines(s.rate.reference.Clock)) {
		lo, hi := e.Lo, e.Hi
		if !s.disciplined {
			lo, hi = -e.Hi, -e.Lo // the kernel changes the rate of the reference, not of the clock
		}
		if why := k.explanation(lo, hi); why != "" {
			r.skip(Drift, s.Name, "it runs %.4g ppm [%.4g, %.4g] faster than %s, but that is not applicable: %s", e.Value, e.Lo, e.Hi, reference, why)
			return
		}
	}
	f := newFinding(s.Name, Drift)
	f.Estimate = &e
	f.worst(math.Abs(e.Value) * 1e-6 * s.rate.spanNs())
	f.note("%s", k.heldAgainst(s, s.rate.reference.Clock))
	if off {
		f.Lower(stats.Suspect, "it runs %.4g ppm %s than %s [%.4g, %.4g]", math.Abs(e.Value), either(e.Value > 0, "faster", "slower"), reference, e.Lo, e.Hi)
	}
	r.add(f)
}

// mostDoubled is the largest number of times that the errors of readings are doubled in the
// search for a rate.
const mostDoubled = 10

// drift returns by how much the clock runs faster than the reference, in ppm, according to the
// length of its tick; the interval includes the uncertainty of that length.
//
// A clock of constant rate follows a straight line, and each reading lies within its error of
// the line. The possible rates are the slopes of all such lines. If there is no such line, the
// readings stray by more than their errors, and all errors are doubled until there is one.
func drift(w *watch, sandwiches []clock.Sandwich) stats.Estimate {
	pairs := w.pairs(sandwiches)
	e := stats.Estimate{Value: math.NaN(), Unit: "ppm", Statistic: "middle of bounds", N: len(pairs)}
	lo, hi := 0.0, -1.0
	for doubled := 0; hi < lo && doubled < mostDoubled; doubled++ {
		lo, hi = band(pairs, math.Ldexp(1, doubled)).skew()
	}
	if hi >= lo && !math.IsInf(hi-lo, 0) {
		unsure := tickError(w.clock) + tickError(w.reference)
		lo, hi = (1+lo)*(1-unsure)-1, (1+hi)*(1+unsure)-1
		e.Value, e.Lo, e.Hi = 1e6*(lo+hi)/2, 1e6*lo, 1e6*hi
	}
	return e
}

// band returns the limits that pairs set to the clock's lead over the reference, with each error
// multiplied by times.
func band(pairs []Pair, times float64) *limits {
	l := &limits{}
	for _, p := range pairs {
		ahead := p.ClockNs - p.ReferenceNs
		l.upper = append(l.upper, limit{p.ReferenceNs, ahead + times*p.ErrorNs})
		l.lower = append(l.lower, limit{p.ReferenceNs, ahead - times*p.ErrorNs})
	}
	return l
}

// tickError returns the relative uncertainty of the length of a clock's tick.
func tickError(c clock.Rated) float64 {
	if e := c.TickNs.RelativeHalfWidth(); e > 0 && e < 1 {
		return e
	}
	return 0
}

// longAwayNs is a time between two looks that is too long to be explained by a busy machine.
const longAwayNs = 1e9

// judgePause reports the longest time for which the watching thread did not run. It does not
// lower the verdict on the clocks.
func (r *Report) judgePause(w *watch, every float64) {
	longest := 0.0
	for i := 1; i < len(w.sandwiches); i++ {
		gap := float64(w.sandwiches[i].Before-w.sandwiches[i-1].After) * tickNs(w.reference)
		longest = math.Max(longest, gap)
	}
	f := newFinding(w.reference.Name, Pause)
	f.worst(longest)
	if longest > every+longAwayNs {
		f.note("nothing ran for %s between two looks: this process was stopped, its CPU was taken, or the whole machine was paused", stats.Duration(longest, 4))
	}
	r.add(f)
}
