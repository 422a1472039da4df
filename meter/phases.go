package meter

import (
	"math"
	"math/cmplx"
	"sync"
)

// phaseBins are how many parts of a tick are told apart.
const phaseBins = 128

// phases notes where in the tick some calls end, by the finer clock. Calls that
// fall evenly over the tick end evenly over it.
type phases struct {
	mutex  sync.Mutex
	bins   [phaseBins]uint64
	tick   int64  // whose looks are in present
	looks  uint64 // in that tick
	closed PhaseGroups
	timed  Timed
	lags   lags
}

// look notes a call of that weight and length, unless another call is being noted at that moment.
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

// lagTicks is how far the coarse clock is behind the finer one, in ticks, from where it was
// when the meter was made.
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

// PhaseGroups count the looks by tick: looks in one tick lie close together, and count as one at
// most.
type PhaseGroups struct {
	Count   uint64 `json:"count"`   // ticks with a look
	Squared uint64 `json:"squared"` // sum of the squares of the looks in a tick
}

func (g *PhaseGroups) add(looks uint64) {
	if looks > 0 {
		g.Count++
		g.Squared += looks * looks
	}
}

// Phases say where in the tick a sample of the calls ended.
type Phases struct {
	PhaseGroups
	// Bins count the calls by the part of the tick, from an origin that means
	// nothing.
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
	// Calls that keep to up to this number of evenly spaced places in the tick are found.
	harmonics = phaseBins / 2
	// fewestPhases is the number of ticks that must have been looked at.
	fewestPhases = 20
	// lockChance is the chance that calls which fall evenly over the tick seem
	// locked.
	lockChance = 0.005
	// harmlessBias is the error of the mean, as a share, that one harmonic may cause without a reason
	// being given.
	harmlessBias = 0.05
)

// lock is the strongest unevenness over the tick.
type lock struct {
	places int     // in the tick, evenly apart, that calls keep to
	bias   float64 // the greatest error of the mean by this harmonic, as a share of it
}

// locked looks for phase lock with the Rayleigh test (Mardia and Jupp, Directional Statistics,
// section 6.3.1) at each harmonic of the tick. For evenly spread phases the square of their
// resultant, divided by the sum of squares of the groups' sizes, is exponential with mean 1, or less
// where the looks of one tick are at different places.
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

// resultant is the length of the sum of exp(2 pi i h phase) over all looks.
func (p *Phases) resultant(harmonic int) float64 {
	var sum complex128
	for i, n := range p.Bins {
		sum += complex(float64(n), 0) * cmplx.Rect(1, 2*math.Pi*float64(harmonic*i%phaseBins)/phaseBins)
	}
	return cmplx.Abs(sum)
}
