package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Exposure says what something that went on beside the samples, such as other programs on other CPUs,
// may have added to them.
type Exposure struct {
	// Mean is the mean exposure of the samples.
	Mean float64
	// Lost is the largest share of the median sample that the exposure may have added: without it, the
	// median may be as small as (1 - Lost) times what it is.
	Lost float64
	// Unseen is the part of Lost that rests on the assumed worst alone, since hardly any sample was
	// exposed less.
	Unseen float64
}

// leastExposed is the share of the samples that show what the least exposure does.
const leastExposed = 0.1

// ExposureOf bounds what the exposure x, 0 or more, added to the samples y, above 0. An exposure of 1
// makes a sample at most (1 + worst) times as large. Beyond the exposure that only a tenth of the
// samples stay below, the upper end of the slope's interval ([TheilSen]) says what more of it adds.
// Below that nothing was seen, and the worst is assumed. So is it where the samples don't tell: where
// they are fewer than 6, or x does not vary. The zero value is the answer to no samples.
func ExposureOf(x, y []float64, worst float64) Exposure {
	if len(x) == 0 {
		return Exposure{}
	}
	sorted := slices.Sorted(slices.Values(x))
	least, slope := sorted[len(sorted)-1], 0.0
	if line, err := TheilSen(x, y); err == nil && !math.IsNaN(line.Slope.Hi) {
		least, slope = Quantile(sorted, leastExposed), math.Max(0, line.Slope.Hi)
	}
	unseen, alone := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		unseen[i] = y[i] / (1 + worst*math.Min(x[i], least))
		alone[i] = math.Max(unseen[i]-slope*math.Max(0, x[i]-least), y[i]/(1+worst*x[i]))
	}
	lost := func(without []float64) float64 { return math.Max(0, 1-Median(without)/Median(y)) }
	return Exposure{Mean: stat.Mean(x, nil), Lost: lost(alone), Unseen: lost(unseen)}
}
