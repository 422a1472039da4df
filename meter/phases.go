package meter

import (
	"math"
	"math/cmplx"
	"sync"
)

// phaseBins is the number of parts of a tick that are distinguished.
const phaseBins = 128

// phases counts in which part of the tick some calls end, by the finer clock. If calls fall evenly over
// the tick, so do their ends.
type phases struct {
	mutex  sync.Mutex
	bins   [phaseBins]uint64
	tick   int64  // the clock's reading in the tick of the last look
	looks  uint64 // number of looks in that tick
	closed PhaseGroups
	timed  Timed
	lags   lags
}

// look records a call of the given weight and length, unless another goroutine is recording one.
func (p *phases) look(m *Meter, weight int64, ns float64, end moment) {
	if !p.mutex.TryLock() {
		return
	}
	defer p.mutex.Unlock()
	if end.reading != p.tick {
		p.closed.add(p.looks)
		p.tick, p.looks = end.reading, 0
	}
	p.looks++
	lag := m.lagTicks(end)
	p.bins[min(int((lag-math.Floor(lag))*phaseBins), phaseBins-1)]++
	if m.source.sameTime {
		p.lags.add(lag)
	}
	p.timed.add(float64(weight), ns)
}

// lagTicks returns how far the coarse clock has fallen behind the finer one since the meter was made, in
// ticks.
func (m *Meter) lagTicks(at moment) float64 {
	return float64(at.fineNs-m.begun.fineNs)/m.source.tickNs - m.ticksBetween(m.begun.reading, at.reading)
}

func (p *phases) snapshot() (Phases, Timed) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	closed := p.closed
	closed.add(p.looks)
	s := Phases{PhaseGroups: closed}
	if closed.Count > 0 {
		s.Bins = append(s.Bins, p.bins[:]...)
	}
	timed := p.timed
	timed.Uneven = p.lags.uneven()
	return s, timed
}

// PhaseGroups counts the looks (calls that were recorded) by tick. Looks in one tick depend on one another, and
// together tell no more than one.
type PhaseGroups struct {
	Count   uint64 `json:"count"`   // ticks with a look
	Squared uint64 `json:"squared"` // for each tick the number of its looks, squared; summed over the ticks
}

func (g *PhaseGroups) add(looks uint64) {
	if looks > 0 {
		g.Count++
		g.Squared += looks * looks
	}
}

// Phases says in which part of the tick a sample of the calls ended.
type Phases struct {
	PhaseGroups
	// Bins counts the calls by the part of the tick, from an arbitrary origin.
	Bins []uint64 `json:"bins,omitempty"`
}

func (p Phases) plus(other Phases) Phases {
	p.Count = saturating(p.Count, other.Count)
	p.Squared = saturating(p.Squared, other.Squared)
	p.Bins = sumOf(p.Bins, other.Bins)
	return p
}

// Limits of the search for phase lock.
const (
	// harmonics is the largest number of evenly spaced places in the tick for which phase lock is found.
	harmonics = phaseBins / 2
	// fewestPhases is the least number of ticks with a look that the search needs.
	fewestPhases = 20
	// lockChance is the probability that calls which fall evenly over the tick seem locked.
	lockChance = 0.005
	// harmlessBias is the error of the mean, as a share, that one harmonic may cause without a reason
	// being given.
	harmlessBias = 0.05
)

// lock describes how calls keep to places in the tick.
type lock struct {
	places int     // number of evenly spaced places in the tick at which calls end
	bias   float64 // the greatest relative error of the mean that this harmonic can cause
}

// locked looks for phase lock with the Rayleigh test (Mardia and Jupp, Directional Statistics,
// section 6.3.1) at each harmonic of the tick. For evenly spread phases the square of their
// resultant, divided by the sum of squares of the groups' sizes, is exponentially distributed with mean
// 1, or smaller if the looks of one tick are at different places.
//
// If a share a of the calls has one phase, one harmonic raises the density there to 1 + 2a, so that
// an edge may meet too many or too few calls by that factor. All harmonics together may raise it far
// more for short calls.
func (p *Phases) locked() (found lock, ok bool) {
	if p.Count < fewestPhases {
		return lock{}, false
	}
	var looks uint64
	for _, n := range p.Bins {
		looks += n
	}
	limit := math.Log(harmonics / lockChance)
	for h := 1; h <= harmonics; h++ {
		r := p.resultant(h)
		bias := 2 * r / float64(looks)
		if r*r > limit*float64(p.Squared) && bias > max(harmlessBias, 1.25*found.bias) { // a single place shows at every harmonic
			found, ok = lock{h, bias}, true
		}
	}
	return found, ok
}

// resultant returns the length of the sum of exp(2 pi i h phase) over all looks, where h is the harmonic.
func (p *Phases) resultant(harmonic int) float64 {
	var sum complex128
	for i, n := range p.Bins {
		sum += complex(float64(n), 0) * cmplx.Rect(1, 2*math.Pi*float64(harmonic*i%phaseBins)/phaseBins)
	}
	return cmplx.Abs(sum)
}
