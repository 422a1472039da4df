package stats

import (
	"math"
	"math/cmplx"
	"slices"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// The periodogram of points x,
//
// A(f) = | mean exp(2 pi i f x) |
//
// has peaks at f = 1/q and its multiples if the points lie on a lattice of spacing q, whatever share of
// the lattice they visit. A few points that are off do not move the peak (for points in time: Rayleigh's
// test; Bretthorst, Bayesian Spectrum Analysis, 1988, chapter 2).

const (
	// SpectrumBins is the number of bins into which a [Spectrum] sorts its points.
	SpectrumBins = 1 << 15
	padding      = 2 // makes the frequency steps finer, so that no peak falls between two
)

// Amplitude returns the periodogram of the points at frequency f.
func Amplitude(points []float64, f float64) float64 {
	return cmplx.Abs(Resultant(points, f)) / float64(len(points))
}

// Resultant returns the sum of exp(2 pi i f x) over the points.
func Resultant(points []float64, f float64) complex128 {
	var re, im float64
	for _, x := range points {
		turns := f * x
		sin, cos := math.Sincos(2 * math.Pi * (turns - math.Floor(turns)))
		re += cos
		im += sin
	}
	return complex(re, im)
}

// Spectrum is the periodogram of the points in one window, on an evenly spaced grid of frequencies that
// starts at zero.
type Spectrum struct {
	Centre, Width float64   // of the window, in the unit of the points
	Points        int       // in the window
	Step          float64   // between two frequencies, per unit
	Amplitudes    []float64 // 0 to 1
}

// scratch is the memory that one transform needs, some megabytes. It is kept for the next transform,
// because a ranking makes hundreds of them with the garbage collector off.
type scratch struct {
	fft          *fourier.FFT
	histogram    []float64
	coefficients []complex128
}

var scratches = sync.Pool{New: func() any {
	return &scratch{
		fft:          fourier.NewFFT(SpectrumBins * padding),
		histogram:    make([]float64, SpectrumBins*padding),
		coefficients: make([]complex128, SpectrumBins*padding/2+1),
	}
}}

// Transform computes the spectrum of sorted points in a window of the given width that starts at from. It
// puts the points into bins that are at least leastBin wide.
func Transform(sorted []float64, from, width, leastBin float64) Spectrum {
	bin := math.Max(leastBin, width/SpectrumBins)
	work := scratches.Get().(*scratch)
	defer scratches.Put(work)
	histogram := work.histogram
	clear(histogram)
	lo, _ := slices.BinarySearch(sorted, from)
	n := 0
	for _, d := range sorted[lo:] {
		i := int((d - from) / bin)
		if i >= SpectrumBins {
			break
		}
		histogram[i]++
		n++
	}
	coefficients := work.fft.Coefficients(work.coefficients, histogram)
	// Coarse bins hide spacings finer than themselves, and would show them at a false frequency.
	// So only frequencies whose period is eight bins or more are kept.
	keep := len(coefficients)
	if bin > leastBin {
		keep /= 4
	}
	s := Spectrum{
		Centre: from + width/2, Width: width, Points: n,
		Step: 1 / (bin * float64(len(histogram))), Amplitudes: make([]float64, keep),
	}
	for i := range s.Amplitudes {
		s.Amplitudes[i] = cmplx.Abs(coefficients[i]) / float64(max(n, 1))
	}
	return s
}

// beyondEnvelope returns the first index beyond the peak at frequency zero. That peak only shows at which place
// the points lie as a whole.
func (s Spectrum) beyondEnvelope() int {
	for i, a := range s.Amplitudes {
		if a < 0.5 {
			return i
		}
	}
	return len(s.Amplitudes)
}

// Chance returns the expected height of the highest summit of the same number of points that lie
// on no lattice. The squared amplitude is then exponentially distributed, and each frequency of
// the grid counts as independent.
func (s Spectrum) Chance() float64 {
	return math.Sqrt(math.Log(float64(len(s.Amplitudes))) / float64(max(s.Points, 1)))
}

// Summit is a frequency at which a spectrum has a peak, and the height of the peak.
type Summit struct{ F, Height float64 }

// Summits returns the peaks beyond the envelope and above the frequency `above` whose height is
// near that of the highest: at most limit of them, lowest frequency first, because a lattice has
// a peak at every multiple of its frequency and the lowest one counts. Ripples on the flanks of a
// peak, within a quarter of its frequency, are not summits. height is that of the highest peak.
func (s Spectrum) Summits(above float64, limit int) (found []Summit, height float64) {
	from := max(s.beyondEnvelope(), int(above/s.Step))
	for i := from; i < len(s.Amplitudes); i++ {
		if s.isSummit(i) {
			height = math.Max(height, s.Amplitudes[i])
		}
	}
	for i := from; i < len(s.Amplitudes) && len(found) < limit; i++ {
		if s.Amplitudes[i] < 0.7*height || !s.isSummit(i) {
			continue
		}
		top := i
		for ; i < len(s.Amplitudes) && 4*i <= 5*top; i++ {
			if s.Amplitudes[i] > s.Amplitudes[top] {
				top = i
			}
		}
		found = append(found, Summit{float64(top) * s.Step, s.Amplitudes[top]})
	}
	return found, height
}

// Highest returns the highest amplitude within reach of a frequency, with the neighbouring
// frequencies of the grid. Its height is 0 if the spectrum does not extend that far.
func (s Spectrum) Highest(f, reach float64) Summit {
	var top Summit
	from := max(1, int((f-reach)/s.Step))
	to := int(math.Min(float64(len(s.Amplitudes)-1), math.Ceil((f+reach)/s.Step)))
	for i := from; i <= to; i++ {
		if s.Amplitudes[i] > top.Height {
			top = Summit{float64(i) * s.Step, s.Amplitudes[i]}
		}
	}
	return top
}

func (s Spectrum) isSummit(i int) bool {
	return i > 0 && s.Amplitudes[i] >= s.Amplitudes[i-1] &&
		(i+1 == len(s.Amplitudes) || s.Amplitudes[i] >= s.Amplitudes[i+1])
}

// Climb returns the frequency within reach of f at which score is highest, and that score. extent is the
// span of the points; the larger it is, the narrower is the summit.
func Climb(score func(float64) float64, f, reach, extent float64) (float64, float64) {
	best, height := f, score(f)
	try := func(at float64) {
		if h := score(at); at > 0 && h > height {
			best, height = at, h
		}
	}
	step := 1 / (8 * extent)
	for k := 1.0; k*step <= reach; k++ {
		try(f + k*step)
		try(f - k*step)
	}
	for step /= 2; step > 1/(2000*extent); step /= 2 {
		centre := best
		try(centre + step)
		try(centre - step)
	}
	return best, height
}

// Follow refines a frequency at which a [Spectrum] of the first extent of the sorted points has a peak,
// over ever longer stretches up to all points. It reads each point only once: the points are summed in
// short blocks, and a change of the frequency turns the resultant of a block as a whole.
func Follow(sorted []float64, f, extent float64) (best float64) {
	best = f
	span := sorted[len(sorted)-1] - sorted[0]
	blocks := resultants(sorted, f, extent/blocksPerExtent)
	extent = math.Min(extent, span)
	reach := 1 / (2 * extent)
	for extent > 0 {
		n := 0
		for n < len(blocks) && blocks[n].at <= sorted[0]+extent {
			n++
		}
		score := func(g float64) float64 { return turned(blocks[:n], g-f) }
		best, _ = Climb(score, best, reach, extent)
		if extent == span {
			break
		}
		reach = 1 / (4 * extent)
		extent = math.Min(4*extent, span)
	}
	return best
}

// blocksPerExtent is the number of blocks in an extent. The blocks are so short that an error of
// the frequency, as large as the spectrum of the extent allows, turns the resultant of a block by
// only a small part of a circle.
const blocksPerExtent = 32

// block is the resultant of the points near one place.
type block struct {
	at  float64
	sum complex128
}

// resultants returns the resultants of the blocks of the given width that hold points.
func resultants(sorted []float64, f, width float64) []block {
	var blocks []block
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[to] < sorted[from]+width {
			to++
		}
		blocks = append(blocks, block{(sorted[from] + sorted[to-1]) / 2, Resultant(sorted[from:to], f)})
		from = to
	}
	return blocks
}

// turned returns the length of the resultant of all blocks at a frequency that exceeds the
// frequency of the blocks' own resultants by the argument.
func turned(blocks []block, by float64) float64 {
	var sum complex128
	for _, b := range blocks {
		turns := by * (b.at - blocks[0].at)
		sin, cos := math.Sincos(2 * math.Pi * (turns - math.Floor(turns)))
		sum += b.sum * complex(cos, sin)
	}
	return cmplx.Abs(sum)
}
