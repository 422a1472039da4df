package gobench

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// A function takes some percent more or less time at another address, and its address is the same in all runs of one
// binary. Any edit moves functions. So the effect of the address is noise, which more runs of one binary neither
// show nor average out.
// Pairs are therefore run in several layouts of each revision. Ratios scatter between layouts, and between the pairs
// of one layout; these are two components of variance.

// The place of the stack has an effect, too. It follows from the size of the environment and the path of the binary
// (Mytkowicz, Diwan, Hauswirth and Sweeney, Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009), so that
// each revision would have the same place in all of its processes. So each process gets an environment of a random size.

// mostPadding is the largest size in bytes by which an environment is lengthened: a page.
const mostPadding = 4096

// placed returns the benchmark with the binary for a repetition, and an environment of a random size.
func (b Benchmark) placed(repetition int, rng *rand.Rand) Benchmark {
	if len(b.Layouts) > 1 {
		b.Binary = b.Layouts[repetition%len(b.Layouts)]
	}
	b.Padding = rng.IntN(mostPadding)
	return b
}

// placement describes the scatter between layouts.
type placement struct {
	layouts int
	// deviation is the standard deviation of the logarithms of the ratios between layouts; 0 with
	// one layout. ofMeans is that of the layouts' means, which also scatter because the pairs of a layout do.
	deviation, ofMeans float64
	// own is the median ratio in the usual layout; NaN if there is none.
	own float64
}

// placementOf splits the scatter of ratios into that between layouts and that within them (one-way analysis of
// variance; Searle, Casella and McCulloch, Variance Components, section 3.6). at are the ratios' repetitions,
// which determine their layouts.
func placementOf(logs []float64, at []int, layouts int) placement {
	p := placement{layouts: layouts, own: math.NaN()}
	if layouts < 2 {
		return p
	}
	groups := make([][]float64, layouts)
	for i, x := range logs {
		groups[at[i]%layouts] = append(groups[at[i]%layouts], x)
	}
	p.own = math.Exp(stats.Median(groups[0]))
	var means []float64
	within, freedom := 0., 0.
	for _, g := range groups {
		if len(g) < 2 {
			return p
		}
		means = append(means, stat.Mean(g, nil))
		within += stat.Variance(g, nil) * float64(len(g)-1)
		freedom += float64(len(g) - 1)
	}
	perGroup := float64(len(logs)) / float64(layouts)
	p.ofMeans = stat.StdDev(means, nil)
	p.deviation = math.Sqrt(math.Max(0, p.ofMeans*p.ofMeans-within/freedom/perGroup))
	return p
}

// typicalPlacement returns the root mean square of the deviations of layouts' means in a suite, since a few layouts tell little
// about one benchmark, and the number of benchmarks that it rests on.
func typicalPlacement(all []Comparison) (deviation float64, benchmarks int) {
	squares := 0.
	for _, c := range all {
		if c.Metric == "" && c.placed.layouts > 1 {
			squares, benchmarks = squares+c.placed.ofMeans*c.placed.ofMeans, benchmarks+1
		}
	}
	return math.Sqrt(squares / math.Max(1, float64(benchmarks))), benchmarks
}

// margin returns the factor by which a ratio may exceed its true value because only a few layouts were drawn. With a
// probability of 1 - chance it exceeds that by no more.
//
// typical is the deviation in a suite of that many benchmarks, or 0. The deviation is an estimate, with one degree of freedom
// less than layouts for each benchmark, so that the quantile is Student's.
func (p placement) margin(typical float64, benchmarks int, chance float64) float64 {
	if p.layouts < 2 {
		return 1
	}
	deviation := math.Max(p.ofMeans, typical)
	student := distuv.StudentsT{Sigma: 1, Nu: float64((p.layouts - 1) * max(1, benchmarks))}
	return math.Exp(student.Quantile(1-chance) * deviation / math.Sqrt(float64(p.layouts)))
}
