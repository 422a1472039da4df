package timermeter

import (
	"math"
	"math/cmplx"
	"slices"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// A clock whose counter is updated every q units reads values on a lattice:
// multiples of q, rounded down to whole units. Differences of readings lie
// within one unit of that lattice. Its spacing shows as a peak of their
// periodogram
//
//	A(f) = | mean exp(2 pi i f d) |
//
// at f = 1/q, whatever share of the lattice was visited, and a few wild
// differences can't move it. Rounding two readings down lowers the peak to
// sinc(f)^2, and a single reading's to sinc(f): see [peakOfDifferences].

const (
	bins    = 1 << 15
	padding = 2 // finer frequency steps, so that no peak falls between two
)

// sinc is sin(pi x)/(pi x).
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// peakOfDifferences is how high the peak of a lattice of frequency f (per
// unit) stands in the periodogram of differences of readings that are rounded
// down to whole units.
func peakOfDifferences(f float64) float64 { return sinc(f) * sinc(f) }

// amplitude is the periodogram of the points at frequency f.
func amplitude(points []float64, f float64) float64 {
	return cmplx.Abs(resultant(points, f)) / float64(len(points))
}

// resultant is the sum of exp(2 pi i f x) over the points.
func resultant(points []float64, f float64) complex128 {
	var re, im float64
	for _, x := range points {
		turns := f * x
		sin, cos := math.Sincos(2 * math.Pi * (turns - math.Floor(turns)))
		re += cos
		im += sin
	}
	return complex(re, im)
}

// spectrum is the periodogram of differences that fall into one window, on an
// even grid of frequencies.
type spectrum struct {
	centre, width float64 // of the window, in units
	points        int     // differences in it
	step          float64 // between two frequencies, per unit
	amplitudes    []float64
}

// scratch is the memory that one transform needs, some megabytes, kept for the
// next: a ranking makes hundreds, with the garbage collector off.
type scratch struct {
	fft          *fourier.FFT
	histogram    []float64
	coefficients []complex128
}

var scratches = sync.Pool{New: func() any {
	return &scratch{
		fft:          fourier.NewFFT(bins * padding),
		histogram:    make([]float64, bins*padding),
		coefficients: make([]complex128, bins*padding/2+1),
	}
}}

// transform computes the spectrum of sorted differences in a window of the
// given width that starts at from.
func transform(sorted []float64, from, width float64) spectrum {
	bin := math.Max(1, width/bins)
	work := scratches.Get().(*scratch)
	defer scratches.Put(work)
	histogram := work.histogram
	clear(histogram)
	lo, _ := slices.BinarySearch(sorted, from)
	n := 0
	for _, d := range sorted[lo:] {
		i := int((d - from) / bin)
		if i >= bins {
			break
		}
		histogram[i]++
		n++
	}
	coefficients := work.fft.Coefficients(work.coefficients, histogram)
	// Coarse bins hide what is finer than they are, and would show it under a
	// false frequency: only frequencies of eight bins and more are kept.
	keep := len(coefficients)
	if bin > 1 {
		keep /= 4
	}
	s := spectrum{
		centre: from + width/2, width: width, points: n,
		step: 1 / (bin * float64(len(histogram))), amplitudes: make([]float64, keep),
	}
	for i := range s.amplitudes {
		s.amplitudes[i] = cmplx.Abs(coefficients[i]) / float64(max(n, 1))
	}
	return s
}

// beyondEnvelope is the first index past the peak at frequency zero, which is
// only the outline of where the differences lie.
func (s spectrum) beyondEnvelope() int {
	for i, a := range s.amplitudes {
		if a < 0.5 {
			return i
		}
	}
	return len(s.amplitudes)
}

// chance is how high the highest summit of as many differences stands where
// they lie on no lattice: the amplitude squared is exponential, and the grid
// holds so many independent frequencies.
func (s spectrum) chance() float64 {
	return math.Sqrt(math.Log(float64(len(s.amplitudes))) / float64(max(s.points, 1)))
}

// summit is a frequency at which a spectrum peaks, and how high.
type summit struct{ f, height float64 }

// summits are the peaks beyond the envelope that come near the highest, at
// most limit of them, lowest frequency first: a lattice peaks at every
// multiple of its frequency, and the least is the one that counts. The ripples
// on the flanks of a peak, within a quarter of its frequency, are not summits.
// height is that of the highest.
func (s spectrum) summits(limit int) (found []summit, height float64) {
	from := s.beyondEnvelope()
	for i := from; i < len(s.amplitudes); i++ {
		if s.isSummit(i) {
			height = math.Max(height, s.amplitudes[i])
		}
	}
	for i := from; i < len(s.amplitudes) && len(found) < limit; i++ {
		if s.amplitudes[i] < 0.7*height || !s.isSummit(i) {
			continue
		}
		top := i
		for ; i < len(s.amplitudes) && 4*i <= 5*top; i++ {
			if s.amplitudes[i] > s.amplitudes[top] {
				top = i
			}
		}
		found = append(found, summit{float64(top) * s.step, s.amplitudes[top]})
	}
	return found, height
}

func (s spectrum) isSummit(i int) bool {
	return i > 0 && s.amplitudes[i] >= s.amplitudes[i-1] &&
		(i+1 == len(s.amplitudes) || s.amplitudes[i] >= s.amplitudes[i+1])
}

// densest is where the window of the given width that holds the most of the
// sorted differences starts.
func densest(sorted []float64, width float64) float64 {
	best, from, j := 0, sorted[0], 0
	for i, d := range sorted {
		for d-sorted[j] > width {
			j++
		}
		if i-j+1 > best {
			best, from = i-j+1, sorted[j]
		}
	}
	return from
}

// climb returns the frequency within reach of f at which score is highest,
// and that score; extent is the span of the points in units, which sets how
// narrow the summit is.
func climb(score func(float64) float64, f, reach, extent float64) (float64, float64) {
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
