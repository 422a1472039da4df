package stats

import "math"

// maxBins limits the bins of a histogram, and with it the time of a fit. 64 bins of about equal count
// are enough to tell smooth families apart.
const maxBins = 64

// stray is the share of every family that is spread evenly over the range of the samples. It is also
// the least share of the samples that makes a step.
const stray = 0.01

// A cell holds the samples of one value. The value stands for an interval around it that is one
// grain wide. A grain is the accuracy of the clock, or tiny for continuous samples (roundingGrain).
type cell struct {
	value float64
	count int
}

// A bin is an interval of values and the number of samples in it.
type bin struct {
	lo, hi float64
	count  int
}

// A histogram holds the samples in the two forms that the fits need.
type histogram struct {
	cells []cell // in ascending order
	bins  []bin  // in ascending order; ranges without samples may lie between them
	grain float64
	n     int     // number of samples
	span  float64 // from the first bin's lo to the last bin's hi
	start start
}

// start is the starting point for the fit of a continuous family: the median, and the quantiles that
// lie one standard deviation below and above it in a normal distribution.
type start struct{ median, low, high float64 }

// withinFences returns the sorted samples that BestFamily does not leave out as interrupts or faults.
func withinFences(sorted []float64, grain float64) []float64 {
	low, high := Quantile(sorted, 0.05), Quantile(sorted, 0.95)
	reach := 3 * math.Max(high-low, grain)
	first, last := 0, len(sorted)
	for sorted[first] < low-reach {
		first++
	}
	for sorted[last-1] > high+reach {
		last--
	}
	return sorted[first:last]
}

// newHistogram puts samples, which are in ascending order, into cells and bins.
func newHistogram(sorted []float64, grain float64) histogram {
	if grain == 0 {
		grain = roundingGrain(sorted)
	}
	h := histogram{cells: cellsOf(sorted, grain), grain: grain, n: len(sorted)}
	h.bins = binsOf(h.cells, grain, h.n)
	h.span = h.bins[len(h.bins)-1].hi - h.bins[0].lo
	h.start = start{
		median: Quantile(sorted, 0.5),
		low:    Quantile(sorted, 0.1587),
		high:   Quantile(sorted, 0.8413),
	}
	return h
}

// roundingGrain returns a grain for continuous samples. It is so small that only values that are equal
// except for rounding share a cell, and large enough that a difference of two cumulative probabilities
// keeps its digits.
func roundingGrain(sorted []float64) float64 {
	least, greatest := sorted[0], sorted[len(sorted)-1]
	magnitude := math.Max(math.Abs(least), math.Abs(greatest))
	grain := math.Max((greatest-least)*0x1p-20, magnitude*0x1p-40)
	if grain == 0 {
		return 1 // all samples are zero
	}
	return grain
}

// cellsOf joins samples that lie within half a grain of each other into a cell at their mean. On a
// clock of that grain these are equal values.
func cellsOf(sorted []float64, grain float64) []cell {
	var cells []cell
	first, sum := sorted[0], 0.0
	count := 0
	for _, x := range sorted {
		if x-first > grain/2 {
			cells = append(cells, cell{first + sum/float64(count), count})
			first, sum, count = x, 0, 0
		}
		sum += x - first
		count++
	}
	return append(cells, cell{first + sum/float64(count), count})
}

// binsOf makes a bin of each cell. If there are too many cells, it makes a bin of each cell that holds a
// full share of the samples, and joins neighbours among the other cells until they hold a full share.
func binsOf(cells []cell, grain float64, n int) []bin {
	share := 1
	if len(cells) > maxBins {
		share = n / maxBins
	}
	var bins []bin
	open := false // whether more cells may be added to the last bin
	for _, c := range cells {
		lo, hi := c.value-grain/2, c.value+grain/2
		if !open || c.count >= share {
			bins = append(bins, bin{lo: lo, hi: hi})
		}
		b := &bins[len(bins)-1]
		b.hi = hi
		b.count += c.count
		open = b.count < share
	}
	return bins
}

// logLikelihood returns the logarithm of the probability of all bins, strays included, under a
// cumulative distribution function.
func (h histogram) logLikelihood(cdf func(float64) float64) float64 {
	sum := 0.0
	for _, b := range h.bins {
		p := (1-stray)*(cdf(b.hi)-cdf(b.lo)) + stray*(b.hi-b.lo)/h.span
		sum += float64(b.count) * math.Log(p)
	}
	return sum
}
