package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Exposure says by how much a disturbance during the samples, such as programs on other CPUs, may
// have lengthened them.
type Exposure struct {
	// Mean is the mean exposure of the samples.
	Mean float64
	// Lost is the share of the median sample that the exposure added: without it, the median is
	// (1 - Lost) times what it is.
	Lost Estimate
	// Unseen is the part of Lost.Hi that no samples show, since hardly any was exposed less.
	Unseen float64
	// Adds tells that samples of more exposure are larger: the slope's interval lies above 0.
	Adds bool

	slope Estimate // of the samples over the exposure, from least on
	// Below least an exposure of 1 makes a sample at most (1 + worstUnseen) times as large, and above
	// (1 + worst) times.
	least, worst, worstUnseen float64
}

// A program beside another one on another CPU takes at most twice as long (1 + NeighboursWorst): both
// have half of the caches, of the memory bus, or of a core with two threads. More than GuessedAdded
// that neighbours may have added is not taken for known unless samples beside fewer others show it.
const NeighboursWorst, GuessedAdded = 1, 0.02

// leastExposed is the share of the samples that show what the least exposure does, and as large a share
// shows what the most does.
const leastExposed = 0.1

// beyond is by how much more the exposure that all samples had may add than that of which they had more
// or less: it may be of another kind.
const beyond = 2

// ExposureOf bounds how much an exposure x of 0 or more added to the samples y, which are above 0.
// An exposure of 1 makes a sample at most (1 + worst) times as large. For the part of the exposure
// above its 10th percentile, the slope's interval ([TheilSen]) says what it added. The part below
// was never varied: it added between nothing and the worst, or at most twice what the slope says if
// the exposures vary by more than that part. With fewer than 6 samples, or if x does not vary, all
// of the exposure counts as that part. Without samples the result is the zero value.
func ExposureOf(x, y []float64, worst float64) Exposure {
	if len(x) == 0 {
		return Exposure{}
	}
	sorted := slices.Sorted(slices.Values(x))
	e := Exposure{Mean: stat.Mean(x, nil), least: sorted[len(sorted)-1], worst: worst, worstUnseen: worst}
	if line, err := TheilSen(x, y); err == nil && !math.IsNaN(line.Slope.Hi) {
		e.least, e.slope = Quantile(sorted, leastExposed), line.Slope
		e.Adds = e.slope.Lo > 0
		if Quantile(sorted, 1-leastExposed) >= 2*e.least {
			e.worstUnseen = math.Min(worst, beyond*math.Max(0, e.slope.Hi)/Median(y))
		}
	}
	lost := func(slope, worst float64) float64 {
		alone := make([]float64, len(x))
		for i := range x {
			alone[i] = e.alone(x[i], y[i], slope, worst)
		}
		return math.Max(0, 1-Median(alone)/Median(y))
	}
	e.Lost = Estimate{Value: lost(e.slope.Value, 0), Lo: lost(e.slope.Lo, 0), Hi: lost(e.slope.Hi, e.worstUnseen), Statistic: "theil-sen", N: len(x)}
	e.Unseen = lost(0, e.worstUnseen)
	return e
}

// Guessed reports that too much of what may have been added rests on the assumed worst alone.
func (e Exposure) Guessed() bool { return e.Unseen > GuessedAdded }

// AddedByOthers says what programs on other CPUs may have added to samples of a program.
func (e Exposure) AddedByOthers() string {
	return fmt.Sprintf("other programs used other CPUs for %.0f %% of its time: shared caches and memory may have slowed it by up to %.0f %%: a calmer machine tells", 100*e.Mean, 100*e.Lost.Hi/(1-e.Lost.Hi))
}

// Alone bounds what a sample y of exposure x would have been without it.
func (e Exposure) Alone(x, y float64) (lo, hi float64) {
	return e.alone(x, y, e.slope.Hi, e.worstUnseen), e.alone(x, y, e.slope.Lo, 0)
}

// alone is what is left of a sample where so much comes off for the exposure that was seen, and at
// most the worst for the exposure that all samples had.
func (e Exposure) alone(x, y, slope, worstUnseen float64) float64 {
	unseen := y / (1 + worstUnseen*math.Min(x, e.least))
	seen := math.Max(0, slope) * math.Max(0, x-e.least)
	return math.Max(unseen-seen, y/(1+e.worst*x))
}
