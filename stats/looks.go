package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Looks are the numbers of samples at which a growing sequence is looked at while it is measured.
// What they say holds at all looks at once, so that the measurement may stop at any of them for
// what was seen: look j has the share 1/((j+1)(j+2)) of the chance, which sum to 1 (a group
// sequential test with the union bound; Jennison and Turnbull, Group Sequential Methods, chapter
// 2). A sequence that ended between two looks, or before the first, because its time was up, is
// looked at once more.
//
// The samples have to be as likely to lie above their centre as below it, by as much. Logarithms of
// the ratios of pairs do, if the order in a pair was drawn: swapping two equal subjects changes
// the sign and nothing else, whatever the noise is and however long it lasts.
//
// Simulated with 40 comparisons at 1 % and a difference of one standard deviation, 43 pairs show
// it in 95 of 100 runs, where 40 pairs with a single look do in 99 of 100; two confidence
// sequences by betting, after de la Peña and on ranks, show it in 90 of 100 with 40 pairs.
type Looks struct {
	// First is the number of samples at the first look.
	First int
}

// growth of the number of samples from one look to the next, and strays samples that may lie on
// the wrong side at the first look.
const (
	growthOfLooks = 1.4
	straysAtFirst = 2
)

// LooksFor are the looks of a sequence that is to be shown with that chance of an error. Its first
// look comes when it can show something.
func LooksFor(chance float64) Looks {
	n := 1
	for lowestSignedRank(n, chance*shareOfLook(0)) < 1 {
		n++
	}
	return Looks{First: n + straysAtFirst}
}

// shareOfLook is the part of the chance that the look with that index has.
func shareOfLook(j int) float64 { return 1 / float64((j+1)*(j+2)) }

// Due reports whether a sequence of that length is to be looked at.
func (l Looks) Due(n int) bool {
	all := l.upTo(n)
	return len(all) > 0 && all[len(all)-1] == l.at(len(all)-1)
}

// at is the number of samples at the look with that index.
func (l Looks) at(j int) int { return int(float64(l.First) * math.Pow(growthOfLooks, float64(j))) }

// upTo are the looks that a sequence of n samples had. The last one is at its end.
func (l Looks) upTo(n int) (all []int) {
	for j := 0; l.at(j) <= n; j++ {
		all = append(all, l.at(j))
	}
	if n > 0 && (len(all) == 0 || all[len(all)-1] < n) {
		all = append(all, n)
	}
	return all
}

// Above is the chance of samples as far above the centre as these, at any of the looks, where their
// true centre is no higher; 1 where there are too few.
func (l Looks) Above(samples []float64, centre float64) float64 {
	p := 1.
	for j, n := range l.upTo(len(samples)) {
		p = math.Min(p, SignedRankTail(samples[:n], centre)/shareOfLook(j))
	}
	return p
}

// AboveUnpaired is the chance of a second sequence as far above the first one as these are, at any of
// the looks, if they came from one distribution ([PermutationTest]). Of counts, which the machine
// does not disturb, it tells more than pairs.
func (l Looks) AboveUnpaired(first, second []float64) float64 {
	p := 1.
	for j, n := range l.upTo(min(len(first), len(second))) {
		a, b := first[:n], second[:n]
		if stat.Mean(b, nil) <= stat.Mean(a, nil) {
			continue
		}
		if q, err := PermutationTest(a, b, 1); err == nil {
			p = math.Min(p, q/shareOfLook(j))
		}
	}
	return p
}

// Lowest is a bound below the centre of the samples, which is wrong at any of the looks with that
// chance at most; NaN where there are too few.
func (l Looks) Lowest(samples []float64, chance float64) float64 {
	lowest := math.NaN()
	for j, n := range l.upTo(len(samples)) {
		if lo, _ := SignedRankBounds(samples[:n], chance*shareOfLook(j)); !(lo <= lowest) && !math.IsNaN(lo) {
			lowest = lo
		}
	}
	return lowest
}

// Highest is a bound above it.
func (l Looks) Highest(samples []float64, chance float64) float64 {
	return -l.Lowest(negated(samples), chance)
}

// Reach is how small a difference is shown at each look in 95 of 100 sequences of a normal
// distribution.
type Reach []struct {
	Samples    int
	Deviations float64 // the difference, in standard deviations of a sample
}

// seenIn is the share of the sequences in which a difference is shown that counts as visible. Up to
// mostSimulated samples as many sequences as simulated are drawn; beyond, the bound has a normal
// distribution, and signed ranks have the efficiency 3/π beside the mean. cautious is the share
// that the normal distribution takes for seenIn.
const (
	seenIn, cautious         = 0.95, 0.975
	simulated, mostSimulated = 200, 60
)

// Reach is that of sequences of up to so many samples, with that chance of an error.
func (l Looks) Reach(chance float64, most int) (reach Reach) {
	rng := rand.New(rand.NewPCG(1, 0x100c))
	for j := 0; l.at(j) <= most; j++ {
		n, chance := l.at(j), chance*shareOfLook(j)
		deviations := (distuv.UnitNormal.Quantile(1-chance) + distuv.UnitNormal.Quantile(cautious)) / math.Sqrt(3/math.Pi*float64(n))
		if n <= mostSimulated {
			lowest := make([]float64, simulated)
			for i := range lowest {
				samples := make([]float64, n)
				for k := range samples {
					samples[k] = rng.NormFloat64()
				}
				lowest[i], _ = SignedRankBounds(samples, chance)
			}
			deviations = -Quantile(slices.Sorted(slices.Values(lowest)), 1-seenIn)
		}
		reach = append(reach, struct {
			Samples    int
			Deviations float64
		}{n, deviations})
	}
	return reach
}

// Visible is the least difference that n samples show, in their standard deviations; infinite
// where they are too few.
func (r Reach) Visible(n int) float64 {
	visible := math.Inf(1)
	for _, look := range r {
		if look.Samples <= n {
			visible = look.Deviations * math.Sqrt(float64(look.Samples)/float64(n))
		}
	}
	return visible
}

// Needed is how many samples show a difference, in their standard deviations; false where none of
// the looks does.
func (r Reach) Needed(deviations float64) (samples int, ok bool) {
	for _, look := range r {
		if look.Deviations <= deviations {
			return look.Samples, true
		}
	}
	return 0, false
}

func negated(samples []float64) []float64 {
	all := slices.Clone(samples)
	for i := range all {
		all[i] = -all[i]
	}
	return all
}
