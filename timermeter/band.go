package timermeter

import (
	"math"
	"math/cmplx"
	"slices"

	"chronoscope/stats"
)

// A reading rounded down to whole units lies in a band one unit wide below the
// line phase + k x quantum, k being its place on the lattice. Every slope for
// which all readings fit into such a band is possible, and no other: bounds
// that hold whatever the distribution of the rounding errors, which is far
// from random where the quantum is nearly whole.

// point is a reading at place k of the lattice.
type point struct{ k, value float64 }

// Limits of the judgement of bands.
const (
	// mostBlur is how wide a band may be, as a share of the quantum, where
	// readings stray from a lattice for more reasons than rounding. Readings on
	// no lattice fill all of it, and a scheduler's time slices, which are no
	// clock's quantum, a good part: beyond mostBlur a lattice is doubtful, and
	// beyond noLattice there is no lattice.
	mostBlur  = 0.01
	noLattice = 0.7
	// sharpShare is what rounding may explain of a small quantum without filling its
	// band: any whole readings stray from multiples of two by one unit at most.
	sharpShare = 0.25
	// slack allows for arithmetic where a band is compared with what fills it.
	slack = 0.02
	// fewPhases are too few readings to fill a band.
	fewPhases = 300
	// mirrored is the largest spacing whose mirror is looked at: beyond, the two
	// bands differ by more than ten to one.
	mirrored = 12
)

// fit places the values on the lattice of frequency f (per unit, one half at
// most) and bounds its spacing; nil where they don't keep to it,
// or all stand in one place.
//
// Whole readings show f and 1-f alike: a spacing q of two units or more and its
// mirror q/(q-1), between one and two, put them into bands that differ in width
// by the factor mirror-1 only. So both are held against the band that a lattice
// fills: the right one fills its own and no more. Steps of one unit tell them
// apart too, where updates were seen one by one: no spacing of two units has any.
func fit(values []float64, f float64, unitSteps bool) *lattice {
	points := place(values, f)
	lo, hi, band := slopes(points, 1/f)
	if math.IsInf(hi, 1) {
		return nil
	}
	q := (lo + hi) / 2
	l := &lattice{quantum: q, lo: lo, hi: hi, extent: values[len(values)-1] - values[0]}
	fits := band <= fullBand(lo, hi)+slack
	filled := 0.0 // of the mirror's own band
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

// sharpBand is how wide a band rounding may explain.
func (l *lattice) sharpBand() float64 {
	return math.Max(fullBand(l.lo, l.hi)+slack, math.Max(math.Min(1+slack, sharpShare*l.quantum), mostBlur*l.quantum))
}

// fullBand is how wide a band readings at every phase of a lattice fill, in
// units: a spacing of n/m units leaves m different rests only, 1/m apart, and any
// other leaves all. The spacing lies between lo and hi.
func fullBand(lo, hi float64) float64 {
	for m := 1.0; m <= 24 && (hi-lo)*m*m < 0.1; m++ {
		if math.Floor(hi*m+1e-9) >= lo*m-1e-9 {
			return 1 - 1/m
		}
	}
	return 1
}

// mirror is the spacing that shows the same frequencies in whole readings.
func mirror(quantum float64) float64 { return quantum / (quantum - 1) }

// place gives each value its place on the lattice of frequency f. The 6 in 100
// that stray most are left out where rounding does not explain how far they
// stray.
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

// bandWidth is how wide a band of the given slope must be to hold all points.
func bandWidth(points []point, slope float64) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		rest := p.value - p.k*slope
		least, most = min(least, rest), max(most, rest)
	}
	return most - least
}

// slopes bounds the slopes whose band holds all points: one unit wide, or as
// wide as the points need and a half more where they stray further than
// rounding explains. band is the width that they need, convex in the slope.
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

// leastBand is the width of the narrowest band that holds all points, of a slope near the
// given one.
func leastBand(points []point, near float64) float64 {
	width := func(slope float64) float64 { return bandWidth(points, slope) }
	first, last := points[0].k, points[len(points)-1].k
	if first == last {
		return width(near)
	}
	reach := (width(near) + 2) / math.Abs(last-first)
	return width(leastOf(width, near-reach, near+reach))
}

// leastOf is where the convex function has its minimum, by golden section.
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

// crossing is where f passes the limit between inside, where it is within,
// and outside, where it is beyond.
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
