package timermeter

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"chronoscope/stats"
)

// readings are the readings of a clock, in units, in the order in which they were taken.
type readings []int64

// sample holds all readings of a clock.
type sample struct {
	readings
	// stretches are the same readings, cut wherever there was a long time between two of them.
	stretches []readings
	// standsStill reports that the clock stood still between stretches.
	standsStill bool
}

// differences returns the positive differences of values that are in one stretch and at most lag
// places apart, sorted.
func (s sample) differences(lag int) []float64 {
	var d []float64
	for _, r := range s.stretches {
		d = append(d, r.differences(lag)...)
	}
	slices.Sort(d)
	return d
}

// values returns the readings without those that repeat the previous one, which say nothing about
// the spacing.
func (r readings) values() readings {
	return slices.Compact(slices.Clone(r))
}

// differences returns the positive differences of values at most lag places apart, sorted.
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

// offsets returns the readings as offsets from the first one, evenly thinned to at most limit.
func (r readings) offsets(limit int) []float64 {
	var offsets []float64
	for i := 0; i < len(r); i += 1 + (len(r)-1)/limit {
		offsets = append(offsets, float64(r[i]-r[0]))
	}
	return offsets
}

// unitSteps reports whether the readings often moved by a single unit.
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

// lattice describes regularly spaced values on which the readings lie, in units.
type lattice struct {
	// quantum is the spacing; lo and hi are its bounds.
	quantum, lo, hi float64
	// extent is the longest span over which the readings lie on the lattice.
	extent float64
	// mirror is the other spacing that would look nearly the same after rounding to whole units; 0
	// if there is none. Of quantum and mirror, one is between one and two units, and lo and hi are
	// bounds of the other one, whichever is chosen as quantum.
	mirror float64
	// blur is how far the readings stray from the lattice if rounding does not explain it; 0 if
	// it does.
	blur float64
}

// Limits of the search.
const (
	pooledLag = 16 // distance, in readings, up to which differences are pooled at first
	// leastPeak is the least amplitude of a summit of the spectrum that is examined. A lattice of
	// two units, the finest that can be detected, has an amplitude of 0.41 after rounding.
	leastPeak = 0.28
	// keptShare is the share of the expected amplitude that must remain when readings further
	// apart are taken together; the amplitude of a chance summit falls below it.
	keptShare    = 0.6
	fewestPoints = 48   // least number of differences in a window
	mostPoints   = 1500 // largest number of readings that refine the quantum
	summitsTried = 6    // number of summits that are tried in each window
	// summitReach is the distance from a summit of the spectrum, in steps of the spectrum, within
	// which the exact top of the peak is searched. It is several steps because peaks are broad if
	// the differences fill only a part of the window.
	summitReach = 4
)

// findLattice looks for the coarsest lattice on which the readings lie, from wide windows of
// differences to narrow ones. If it finds none, unseen is the widest spacing, in units, that the
// readings may still have, or +Inf if there are too few differences to tell.
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
				found = l // a later, sharp lattice replaces it
			}
		}
		if width <= stats.SpectrumBins {
			return found, widestUnseen(spec)
		}
	}
}

// isMultiple reports whether l is a coarser lattice of the same clock: its spacing is a multiple of
// quantum. Readings that are mostly multiples of ten often fit multiples of five better.
func (l *lattice) isMultiple(quantum float64) bool {
	const most, tolerance = 12, 1e-3
	k := math.Round(l.quantum / quantum)
	return k > 1 && k <= most && math.Abs(l.quantum/quantum-k) < tolerance*k
}

// widestUnseen returns the widest spacing between one and two units whose peak the spectrum could
// hide. The spacing's frequency f is above one half, and whole readings show it at 1-f. Rounding
// makes its peak lower, so that for some spacings it can't be told from other peaks.
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

// refine follows a summit of the spectrum to ever wider windows of differences, and then to readings
// that are ever further apart. Each step gives a finer frequency, as long as the readings lie on
// the lattice. It returns nil if the summit vanishes.
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

// extend refines the frequency f on the readings themselves. f has to be precise enough for
// differences of the given width.
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
			continue // the block is too short to show the spacing
		}
		g, height := stats.Climb(func(f float64) float64 { return coherence(blocks, f) }, f, reach, extent)
		if height < keptShare*sinc(g) {
			break
		}
		f, reach = g, 1/(4*seen)
		if float64(len(values))/float64(len(blocks)) >= 16 || extent == total {
			l := fitMost(blocks, f, r.unitSteps())
			if best != nil && best.blur == 0 && l != nil && l.blur > 0 {
				break // the lattice held over the extent of best; then the clock's rate or phase changed
			}
			if l != nil {
				best = l
			}
		}
	}
	if best != nil && best.extent == total && best.blur <= math.Min(roundings+slack, sharpShare*best.quantum) {
		best.blur = 0 // two roundings explain that much
	}
	return best
}

// roundings is how often readings may have been rounded to whole units. Those of kvm-clock are
// rounded twice: the hypervisor gives a scale that yields whole nanoseconds, which the kernel scales
// once more.
const roundings = 2

// mostKeep is the least share of the readings, in blocks that each have their own phase, that must
// lie on a lattice for it to count. If a clock changes its quantum, fewer do.
const mostKeep = 0.75

// fitMost returns the lattice with the bounds that the longest block gives. The lattice is blurred
// if most readings of the other blocks don't lie on it.
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

// fewestInBlock is the least number of readings in a block that is examined: fewer readings may lie on a
// lattice by chance. blocksTried is a number of blocks that is large enough to estimate a share.
const (
	fewestInBlock = 8
	blocksTried   = 20
)

// within returns the lattice on which more than half of the stretches lie, each with a phase of its
// own. It returns l itself if they lie on none.
//
// The CPU time of a thread is a sum of stretches between switches, each rounded to a unit, so that
// every wait shifts the values after it. A stretch of readings may also contain a short wait and
// then give a wrong quantum, so the result is the median over all stretches.
func (l *lattice) within(stretches []readings) *lattice {
	const mostMultiple = 12 // the largest multiple of the spacing that is tried; the coarsest on which the stretches lie counts
	for k := mostMultiple; k > 0; k-- {
		if found := l.shownBy(stretches, float64(k)*math.Max(l.quantum, l.mirror)); found != nil {
			return found
		}
	}
	return l
}

// shownBy returns the lattice with a quantum near the given one; nil unless more than half of the
// stretches lie on it.
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

// seenExtent returns a span such that the blocks of that span or longer hold half of the values. It
// may be far less than the extent up to which blocks may grow: if readings come in short stretches
// with long times between them, a block that can't hold two stretches holds one.
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

// coherence returns the value of the periodogram at f, each block with a phase of its own.
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

// within returns the sorted values that lie in the window of the given width about centre.
func within(sorted []float64, centre, width float64) []float64 {
	lo, _ := slices.BinarySearch(sorted, centre-width/2)
	hi, _ := slices.BinarySearch(sorted, centre+width/2+1)
	return sorted[lo:hi]
}
