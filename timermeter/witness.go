package timermeter

import (
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

// A Witness checks a clock that another program reads: that program may report anything, so its
// clock has to agree with times that this process takes.
type Witness struct {
	// Pair reads the clock between two readings of its reference: the time, or the CPU time that
	// the kernel counts for the program.
	Pair func() (clock.Sandwich, error)
	// TickNs is the length of a tick of the reference.
	TickNs float64
	// Sharers is the number of threads that shared the CPU time, for a clock that shows the time of
	// one of them; 1 for all other clocks.
	Sharers int
}

// testimony holds the first and the last pair of a witness.
type testimony struct {
	first, last clock.Sandwich
	pairs       int
	err         error
}

func (t *testimony) ask(w *Witness) {
	if w == nil || t.err != nil {
		return
	}
	p, err := w.Pair()
	if err != nil {
		t.err = err
		return
	}
	if t.pairs == 0 {
		t.first = p
	}
	t.last = p
	t.pairs++
}

// shown returns the time that passed between the two pairs according to the clock.
func (t *testimony) shown(unitNs float64) float64 {
	return float64(t.last.Counter-t.first.Counter) * unitNs
}

// bounds returns the least and the most time that the clock may have shown between the two pairs.
// They allow for the accuracy of the readings and for the rate at which a system may slew its
// clocks.
func (t *testimony) bounds(w *Witness, accuracyNs float64) (least, most float64) {
	least = float64(t.last.Before-t.first.After) * w.TickNs / float64(max(1, w.Sharers))
	most = float64(t.last.After-t.first.Before) * w.TickNs
	return least*(1-clock.SlewLimit) - 2*accuracyNs, most*(1+clock.SlewLimit) + 2*accuracyNs
}

// judgeWitness lowers the verdict on a clock of another program that contradicts its witness, or for
// which there is no witness.
func (r *Rating) judgeWitness(s *subject) {
	if s.Witness == nil {
		return
	}
	t := &s.testimony
	if t.err != nil {
		r.Lower(stats.Suspect, "nothing here tells whether it shows the time that it claims to: %v", t.err)
	}
	if t.pairs < 2 || math.IsNaN(r.Accuracy.Value) {
		return // there is too little evidence, as after an interruption, or the reading never changed
	}
	least, most := t.bounds(s.Witness, r.Accuracy.Value)
	switch {
	case t.contradicts(s.Witness, s.Subject.UnitNs, r.Accuracy.Value):
		r.Stable = answer(false)
		r.Lower(stats.Unusable, "it shows that %s passed, while %s to %s of %s did", stats.Duration(t.shown(s.Subject.UnitNs), 4), stats.Duration(math.Max(0, least), 4), stats.Duration(most, 4), held(&s.Clock))
	case !(least > 0):
		r.Lower(stats.Suspect, "too little %s passed to tell whether it shows that: 0 to %s; a longer measurement may tell", held(&s.Clock), stats.Duration(most, 4))
	}
}

// held names what a clock is compared with.
func held(c *clock.Clock) string {
	if c.Kind == clock.KindCPU {
		return "its process's CPU time"
	}
	return "time"
}

// contradicts reports whether the clock contradicts its witness according to the pairs so far.
func (t *testimony) contradicts(w *Witness, unitNs, accuracyNs float64) bool {
	if t.pairs < 2 {
		return false
	}
	least, most := t.bounds(w, accuracyNs)
	return t.shown(unitNs) < least || t.shown(unitNs) > most
}
