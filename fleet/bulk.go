package fleet

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// bulk says how far healthy machines lie from the medians: on all figures together, and on each figure.
type bulk struct {
	usual   sides
	figures []sides
}

// sides are the tails below the median and above it, since distributions may be skewed.
type sides [2]tail

// tail is a t distribution, in multiples of a tier's spread, that fits far machines on one side.
type tail struct{ degrees, scale float64 }

const (
	// A tail is fitted to these percentiles of the distances on its side. A twentieth of the machines that varies three
	// times as much as the others shows at the outer one only.
	innerRank, outerRank = 0.8, 0.99
	// The ratio of the two percentiles of n distances is lowered by outerError/√n, as a share. One and a half standard
	// errors are 2.0/√n if the distribution is normal, and 4.1/√n if it is t with 4 degrees of freedom (600 to 1,000
	// samples of 500 distances). outerError lies between.
	outerError = 3.0
)

// fitBulk fits tails to the machines that are not likely outliers.
func fitBulk(all [][]placed, likely func(figure, place int) bool) (b bulk) {
	var usual [2][]float64
	for figure, tiers := range all {
		own := distances(tiers, func(place int) bool { return likely(figure, place) })
		b.figures = append(b.figures, sides{tailOf(own[0], outerError), tailOf(own[1], outerError)})
		for side := range usual {
			usual[side] = append(usual[side], own[side]...)
		}
	}
	b.usual = sides{tailOf(usual[0], 0), tailOf(usual[1], 0)}
	return b
}

// distances returns the distances of machines below the median and of those above it, without those left out.
func distances(tiers []placed, leftOut func(place int) bool) (of [2][]float64) {
	place := 0
	for _, t := range tiers {
		for i, x := range t.residuals {
			if len(t.residuals) >= enoughForTails && t.spread > leastSpread && !leftOut(place) {
				of[side(x)] = append(of[side(x)], t.distance(i))
			}
			place++
		}
	}
	return of
}

func side(residual float64) int {
	if residual < 0 {
		return 0
	}
	return 1
}

// tailOf fits a t distribution to the distances on one side. The ratio of their percentiles is lowered by a share,
// ratioError over the root of their number, so that chance does not make the tails look heavy.
func tailOf(far []float64, ratioError float64) tail {
	if len(far) < enoughForTails/2 {
		return tail{lightTails, 1}
	}
	far = slices.Sorted(slices.Values(far))
	inner := stats.Quantile(far, innerRank)
	seen := stats.Quantile(far, outerRank) / max(inner, 1e-12) * (1 - ratioError/math.Sqrt(float64(len(far))))
	degrees := degreesOf(seen, innerRank, outerRank)
	return tail{degrees, inner / studentQuantile(degrees, innerRank)}
}

// of returns the tails of a figure: on each side those of all figures, or its own where these are heavier.
func (b bulk) of(figure int) sides {
	all := b.usual
	for i, own := range b.figures[figure] {
		if own.degrees < all[i].degrees {
			all[i] = own
		}
	}
	return all
}

// studentQuantile is the quantile of absolute values of a t distribution.
func studentQuantile(degrees, rank float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile((1 + rank) / 2)
}

// degreesOf returns the degrees of freedom of the t distribution in which two quantiles of absolute values have this ratio.
func degreesOf(ratio, inner, outer float64) float64 {
	low, high := heavyTails, lightTails
	for range 30 {
		degrees := math.Sqrt(low * high)
		if studentQuantile(degrees, outer)/studentQuantile(degrees, inner) > ratio { // heavier
			low = degrees
		} else {
			high = degrees
		}
	}
	return low
}
