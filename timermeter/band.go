package timermeter

import (
	"math"
	"math/cmplx"
	"slices"

	"chronoscope/stats"
)

// A reading rounded down to whole units lies in a band one unit wide below the line
// phase + k x quantum, where k is the reading's place on the lattice. A slope is possible if and
// only if all readings fit into such a band. These bounds hold for any distribution of the rounding
// errors, which is far from random if the quantum is nearly a whole number of units.

// point is a reading at place k of the lattice.
type point struct{ k, value float64 }

// Limits of the judgement of bands.
const (
	// mostBlur and noLattice are shares of the quantum. A lattice whose band is wider than rounding
	// explains is doubtful beyond mostBlur, and no lattice beyond noLattice. Readings without a
	// lattice fill the whole quantum. The time slices of a scheduler, which are no quantum of the
	// clock, fill much of it.
	mostBlur  = 0.01
	noLattice = 0.7
	// sharpShare is the share of a small quantum that rounding may explain. It is limited
	// because any whole readings stray from multiples of two by at most one unit.
	sharpShare = 0.25
	// slack is the tolerance for arithmetic errors when a band is compared with a full one.
	slack = 0.02
	// fewPhases is the number of readings below which a band may not be filled.
	fewPhases = 300
	// mirrored is the largest spacing whose mirror is considered: beyond it the widths of the
	// two bands differ by more than ten to one.
	mirrored = 12
)

// fit places the values on the lattice of frequency f (per unit, at most one half) and bounds its
// spacing. It returns nil if the values don't lie on the lattice, or all lie in one place.
//
// Whole readings look the same for the frequencies f and 1-f. A spacing q of two units or more and
// its mirror q/(q-1), which is between one and two units, lead to bands whose widths differ by
// the factor mirror-1 only. So the readings' band is compared with the full band of each of the
// two: the right spacing fills exactly its own. Steps of one unit, if updates were seen one by one,
// also tell the two apart, because a spacing of two units or more has none.
func fit(values []float64, f float64, unitSteps bool) *lattice {
	points := place(values, f)
	lo, hi, band := slopes(points, 1/f)
	if math.IsInf(hi, 1) {
		return nil
	}
	q := (lo + hi) / 2
	l := &lattice{quantum: q, lo: lo, hi: hi, extent: values[len(values)-1] - values[0]}
	fits := band <= fullBand(lo, hi)+slack
	filled := 0.0 // share of the mirror's full band that the readings fill
	if q < mirrored && !(lo <= mirror(q) && mirror(q) <= hi) {
		filled = band * (mirror(q) - 1) / fullBand(mirror(hi), mirror(lo))
	}
	mirrorFits := filled <= 1+slack
	switch {
	case unitSteps && mirrorFits && filled > 0.4:
		return &lattice{quantum: mirror(q), lo: mirror(hi), hi: mirror(lo), extent: l.extent}
	case !fits && mirrorFits && filled > 0.8:
		l.quantum, l.mirror = mirror(q), q
	case fits && mirrorFits && (filled > 0.9 || filled > 0.4 && len(points) < fewPhases):
		l.mirror = mirror(q)
	case !fits && band > math.Max(1+slack, noLattice*q):
		return nil
	case !fits && band > l.sharpBand():
		l.blur = band
	}
	return l
}

// sharpBand returns the widest band that rounding may explain.
func (l *lattice) sharpBand() float64 {
	return math.Max(fullBand(l.lo, l.hi)+slack, math.Max(math.Min(1+slack, sharpShare*l.quantum), mostBlur*l.quantum))
}

// fullBand returns the width, in units, of the band that readings at all phases of a lattice fill.
// Readings of a spacing of n/m units have only m different remainders, 1/m apart; those of any
// other spacing have all. The spacing lies between lo and hi.
func fullBand(lo, hi float64) float64 {
	for m := 1.0; m <= 24 && (hi-lo)*m*m < 0.1; m++ {
		if math.Floor(hi*m+1e-9) >= lo*m-1e-9 {
			return 1 - 1/m
		}
	}
	return 1
}

// mirror returns the mirror of a quantum q = 1/f: the quantum 1/(1-f). Readings in whole units look the same for the
// frequencies f and 1-f (see fit).
func mirror(quantum float64) float64 { return quantum / (quantum - 1) }

// place gives each value its place on the lattice of frequency f. If rounding does not explain how
// far some values stray, it leaves out the 6 in 100 that stray most.
func place(values []float64, f float64) []point {
	phase := cmplx.Phase(stats.Resultant(values, f)) / (2 * math.Pi)
	points := make([]point, len(values))
	strays := make([]float64, len(values))
	for i, x := range values {
		k := math.Round(f*x - phase)
		points[i] = point{k: k, value: x}
		strays[i] = x - (k+phase)/f
	}
	sorted := slices.Clone(strays)
	slices.Sort(sorted)
	n := len(sorted)
	if sorted[n-1]-sorted[0] <= 2 {
		return points
	}
	least, most := sorted[n/33], sorted[n-1-n/33]
	kept := points[:0]
	for i, p := range points {
		if least <= strays[i] && strays[i] <= most {
			kept = append(kept, p)
		}
	}
	return kept
}

// bandWidth returns the width of the band of the given slope that holds all points.
func bandWidth(points []point, slope float64) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		rest := p.value - p.k*slope
		least, most = min(least, rest), max(most, rest)
	}
	return most - least
}

// slopes returns the bounds lo and hi of the slopes for which a band of the allowed width holds all
// points. The allowed width is one unit, or, if the points stray further than rounding explains,
// 1.5 times the width that they need. band is the width that they need; it is a convex function of
// the slope.
func slopes(points []point, near float64) (lo, hi, band float64) {
	width := func(slope float64) float64 { return bandWidth(points, slope) }
	first, last := points[0].k, points[0].k
	for _, p := range points {
		first, last = math.Min(first, p.k), math.Max(last, p.k)
	}
	if last == first {
		return 0, math.Inf(1), 0
	}
	reach := (width(near) + 2) / (last - first)
	best := leastOf(width, near-reach, near+reach)
	allowed := 1.0
	if band = width(best); band >= 1 {
		allowed = 1.5 * band
	}
	far := (allowed + 1) / (last - first)
	return crossing(width, allowed, best, best-far), crossing(width, allowed, best, best+far), band
}

// leastBand returns the width of the narrowest band that holds all points and whose slope is near
// the given one.
func leastBand(points []point, near float64) float64 {
	width := func(slope float64) float64 { return bandWidth(points, slope) }
	first, last := points[0].k, points[len(points)-1].k
	if first == last {
		return width(near)
	}
	reach := (width(near) + 2) / math.Abs(last-first)
	return width(leastOf(width, near-reach, near+reach))
}

// leastOf returns where the convex function f has its minimum, by golden section search.
func leastOf(f func(float64) float64, lo, hi float64) float64 {
	const golden = 0.6180339887498949
	for range 60 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if f(a) <= f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return (lo + hi) / 2
}

// crossing returns where f passes limit between inside, where f is below it, and outside, where f
// is above it.
func crossing(f func(float64) float64, limit, inside, outside float64) float64 {
	for range 60 {
		middle := (inside + outside) / 2
		if f(middle) <= limit {
			inside = middle
		} else {
			outside = middle
		}
	}
	return outside
}
