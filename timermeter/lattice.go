package timermeter

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"chronoscope/stats"
)

// readings are what a clock read, in units, in order.
type readings []int64

// sample is all readings of a clock.
type sample struct {
	readings
	// stretches are the same readings, each without a long time between two of them.
	stretches []readings
	// standsStill tells that the clock stood still between stretches.
	standsStill bool
}

// differences are the positive differences of values in one stretch, at most lag
// apart, sorted.
func (s sample) differences(lag int) []float64 {
	var d []float64
	for _, r := range s.stretches {
		d = append(d, r.differences(lag)...)
	}
	slices.Sort(d)
	return d
}

// values are the readings without those that repeat the one before, which say
// nothing of the spacing.
func (r readings) values() readings {
	return slices.Compact(slices.Clone(r))
}

// differences are the positive differences of values at most lag apart,
// sorted.
func (r readings) differences(lag int) []float64 {
	var d []float64
	values := r.values()
	for i, v := range values {
		for _, w := range values[i+1 : min(i+1+lag, len(values))] {
			if w > v {
				d = append(d, float64(w-v))
			}
		}
	}
	slices.Sort(d)
	return d
}

// offsets are the readings as offsets from the first, at most limit of them,
// thinned out evenly.
func (r readings) offsets(limit int) []float64 {
	var offsets []float64
	for i := 0; i < len(r); i += 1 + (len(r)-1)/limit {
		offsets = append(offsets, float64(r[i]-r[0]))
	}
	return offsets
}

// unitSteps reports that the readings often moved by just one unit.
func (r readings) unitSteps() bool {
	ones, changes := 0, 0
	for i := 1; i < len(r); i++ {
		if r[i] != r[i-1] {
			changes++
		}
		if r[i] == r[i-1]+1 {
			ones++
		}
	}
	return 20*ones > changes
}

// lattice is the spacing that readings were found to lie on, in units.
type lattice struct {
	// quantum is the spacing, and lo and hi its bounds.
	quantum, lo, hi float64
	// extent is the longest span over which the readings keep to the lattice.
	extent float64
	// mirror is the other spacing, between one and two units, that would look
	// nearly the same after rounding; 0 where there is none.
	mirror float64
	// blur is how far the readings stray from the lattice where rounding does not
	// explain it; 0 where it does.
	blur float64
}

// Limits of the search.
const (
	pooledLag = 16 // readings whose differences are pooled at first
	// leastPeak is the amplitude from which a summit of the spectrum is looked
	// into. A lattice of two units, the finest that can be told from none,
	// shows 0.41 of it after rounding.
	leastPeak = 0.28
	// keptShare of the expected amplitude must be left when readings further
	// apart are looked at together; a chance summit does not keep it.
	keptShare    = 0.6
	fewestPoints = 48   // differences that a window must hold
	mostPoints   = 1500 // readings that refine the quantum
	summitsTried = 6    // of each window
	// summitReach is how far, in steps of the spectrum, a summit may lie from its
	// peak: where differences fill only a part of the window, peaks are broad.
	summitReach = 4
)

// findLattice looks for the coarsest lattice that the readings lie on, from
// wide windows of differences to narrow ones. Without one, unseen is the widest
// spacing, in units, that there may be all the same; +Inf where there were too
// few differences to tell.
func findLattice(s sample) (found *lattice, unseen float64) {
	r, pool := s.readings, s.differences(pooledLag)
	if len(pool) < fewestPoints {
		return nil, math.Inf(1)
	}
	least, most := pool[0], pool[len(pool)*95/100]
	for width := most - least; ; width /= 4 {
		from := least
		if width < most-least {
			from = densest(pool, width)
		}
		spec := stats.Transform(pool, from, width, 1)
		if spec.Points < fewestPoints {
			return found, math.Inf(1)
		}
		tops, _ := spec.Summits(0, summitsTried)
		for _, top := range tops {
			if top.Height < leastPeak {
				continue
			}
			switch l := r.refine(pool, spec, top.F); {
			case l == nil:
			case l.blur == 0 && found != nil && found.isMultiple(l.quantum):
				return found, 0
			case l.blur == 0:
				return l, 0
			case found == nil:
				found = l // unless there is a sharp one
			}
		}
		if width <= stats.SpectrumBins {
			return found, widestUnseen(spec)
		}
	}
}

// isMultiple tells that the lattice is a coarser one of the same clock: readings that
// mostly keep to multiples of ten often keep better to those of five.
func (l *lattice) isMultiple(quantum float64) bool {
	const most, tolerance = 12, 1e-3
	k := math.Round(l.quantum / quantum)
	return k > 1 && k <= most && math.Abs(l.quantum/quantum-k) < tolerance*k
}

// widestUnseen is the widest spacing between one and two units whose peak the
// spectrum could hide. Whole readings show the spacing's frequency f, above one
// half, at 1-f; rounding lowers it to a height that would stand out until it
// gets lost among the others.
func widestUnseen(s stats.Spectrum) float64 {
	for i := int(0.5 / s.Step); i > 0; i-- {
		if i >= len(s.Amplitudes) {
			return math.Inf(1)
		}
		if g := float64(i) * s.Step; s.Amplitudes[i] > peakOfDifferences(1-g)/2 {
			return 1 / (1 - g)
		}
	}
	return 1
}

// refine follows a summit of the spectrum to ever wider windows of differences
// and then to readings ever further apart, each time with a finer frequency,
// for as long as the readings keep to the lattice. It returns nil for a summit
// that does not hold.
func (r readings) refine(pool []float64, spec stats.Spectrum, f float64) *lattice {
	widest := pool[len(pool)*95/100] - pool[0]
	width := spec.Width
	reach := summitReach * spec.Step
	for {
		points := stats.Thinned(within(pool, spec.Centre, width), mostPoints)
		f, _ = stats.Climb(func(f float64) float64 { return stats.Amplitude(points, f) }, f, reach, width)
		reach = 1 / (4 * width)
		if f*width < 1 {
			return nil
		}
		if width >= widest {
			break
		}
		width = math.Min(4*width, widest)
	}
	return r.extend(f, width)
}

// extend refines frequency f, good over differences of the given width, on
// the readings themselves.
func (r readings) extend(f, width float64) *lattice {
	values := r.offsets(mostPoints)
	total := values[len(values)-1] - values[0]
	var best *lattice
	reach := 1 / (4 * width)
	for extent := width; extent < total; {
		extent = math.Min(4*extent, total)
		blocks := split(values, extent)
		seen := seenExtent(blocks)
		if f*seen < 1 {
			continue // too short to show it
		}
		g, height := stats.Climb(func(f float64) float64 { return coherence(blocks, f) }, f, reach, extent)
		if height < keptShare*sinc(g) {
			break
		}
		f, reach = g, 1/(4*seen)
		if float64(len(values))/float64(len(blocks)) >= 16 || extent == total {
			l := fitMost(blocks, f, r.unitSteps())
			if best != nil && best.blur == 0 && l != nil && l.blur > 0 {
				break // it held for as long as best says, and its rate or phase changed then
			}
			if l != nil {
				best = l
			}
		}
	}
	return best
}

// mostKeep is the share of the readings, in blocks of their own phase, that must keep to
// a lattice before it is said to hold: a clock that changed its ways is no lattice's.
const mostKeep = 0.75

// fitMost is the lattice as the longest block bounds it. It is blurred where that block
// alone keeps to it, and not most of the others.
func fitMost(blocks [][]float64, f float64, unitSteps bool) *lattice {
	l := fit(longest(blocks), f, unitSteps)
	if l == nil || l.blur > 0 || l.quantum < 2 || len(blocks) == 1 {
		return l
	}
	kept, all, stray := 0, 0, 0.0
	for _, b := range stats.Thinned(blocks, blocksTried) {
		if len(b) < fewestInBlock {
			continue
		}
		all += len(b)
		if band := leastBand(place(b, f), 1/f); band > l.sharpBand() {
			stray = math.Max(stray, band)
		} else {
			kept += len(b)
		}
	}
	if float64(kept) < mostKeep*float64(all) {
		l.blur = math.Min(stray, l.quantum)
	}
	return l
}

// fewestInBlock are as few readings as keep to a lattice by no chance, and blocksTried
// are blocks enough to tell a share.
const (
	fewestInBlock = 8
	blocksTried   = 20
)

// within is the lattice as more than half of the stretches keep to it, each with a phase
// of its own; the lattice as it was where they don't.
//
// A thread's CPU time is a sum of what it ran for from switch to switch, each rounded to
// a unit, and so every wait shifts the values that come after it. A stretch may hold a
// short wait too, and then errs: so the quantum is the median of all.
func (l *lattice) within(stretches []readings) *lattice {
	const mostMultiple = 12 // the coarsest multiple that holds counts
	for k := mostMultiple; k > 0; k-- {
		if found := l.shownBy(stretches, float64(k)*math.Max(l.quantum, l.mirror)); found != nil {
			return found
		}
	}
	return l
}

// shownBy is the lattice near a quantum, nil where half of the stretches don't keep to it.
func (l *lattice) shownBy(stretches []readings, near float64) *lattice {
	tried := 0
	var quanta []float64
	for _, r := range stretches {
		values := r.offsets(mostPoints)
		if len(values) < fewestInBlock || values[len(values)-1] < 2*near {
			continue
		}
		tried++
		if s := fit(values, 1/near, false); s != nil && s.blur == 0 && s.mirror == 0 {
			quanta = append(quanta, s.quantum)
		}
	}
	slices.Sort(quanta)
	q, _, err := stats.QuantileInterval(quanta, 0.5, "units")
	if 2*len(quanta) <= tried || err != nil {
		return nil
	}
	return &lattice{quantum: q.Value, lo: q.Lo, hi: q.Hi, extent: l.extent}
}

// split cuts values into blocks that span at most extent.
func split(values []float64, extent float64) [][]float64 {
	var blocks [][]float64
	for start, i := 0, 1; i <= len(values); i++ {
		if i == len(values) || values[i]-values[start] > extent {
			blocks = append(blocks, values[start:i])
			start = i
		}
	}
	return blocks
}

// seenExtent is a span that half the values stand in, or a longer one. It may be far
// less than blocks were let have: where readings come in short stretches with long
// times between them, blocks don't grow until they hold two stretches.
func seenExtent(blocks [][]float64) float64 {
	span := func(b []float64) float64 { return b[len(b)-1] - b[0] }
	sorted := slices.SortedFunc(slices.Values(blocks), func(a, b []float64) int { return cmp.Compare(span(b), span(a)) })
	seen, all := 0, 0
	for _, b := range blocks {
		all += len(b)
	}
	for _, b := range sorted {
		if seen += len(b); 2*seen >= all {
			return span(b)
		}
	}
	return 0
}

// coherence is the periodogram at f, each block with a phase of its own.
func coherence(blocks [][]float64, f float64) float64 {
	var sum float64
	n := 0
	for _, b := range blocks {
		sum += cmplx.Abs(stats.Resultant(b, f))
		n += len(b)
	}
	return sum / float64(n)
}

func longest(blocks [][]float64) []float64 {
	return slices.MaxFunc(blocks, func(a, b []float64) int {
		return cmp.Compare(a[len(a)-1]-a[0], b[len(b)-1]-b[0])
	})
}

// within are the sorted values that lie in the window of that width about
// centre.
func within(sorted []float64, centre, width float64) []float64 {
	lo, _ := slices.BinarySearch(sorted, centre-width/2)
	hi, _ := slices.BinarySearch(sorted, centre+width/2+1)
	return sorted[lo:hi]
}
