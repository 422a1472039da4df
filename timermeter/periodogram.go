package timermeter

import "math"

// A clock whose counter is updated every q units has readings on a lattice: multiples of q, rounded
// down to whole units. Differences of readings lie within one unit of that lattice, and its spacing
// shows as a peak of their periodogram ([stats.Amplitude]). Rounding lowers the peak: to sinc(f)
// for single readings, and to sinc(f)^2 for differences, because both readings are rounded.

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// peakOfDifferences returns the height of the peak of a lattice of frequency f (per unit) in the
// periodogram of differences of readings that are rounded down to whole units.
func peakOfDifferences(f float64) float64 { return sinc(f) * sinc(f) }

// densest returns the start of the window of the given width that holds the most of the sorted
// differences.
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
