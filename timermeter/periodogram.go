package timermeter

import "math"

// A clock whose counter is updated every q units reads values on a lattice:
// multiples of q, rounded down to whole units. Differences of readings lie
// within one unit of that lattice, and its spacing shows as a peak of their
// periodogram ([stats.Amplitude]). Rounding two readings down lowers the peak
// to sinc(f)^2, and a single reading's to sinc(f).

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
