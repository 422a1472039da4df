package fleet

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// A Figure is one quantity, measured on several machines.
type Figure struct {
	Topic, Name, Quantity, Unit string
	// Better is "lower", "higher", or empty if neither is better.
	Better string
	Values []Value
}

// A Value is the figure of one machine. It is above 0. Lo and Hi are its interval, NaN without one.
type Value struct {
	Node          int     // number of the machine
	At            float64 // when it was measured, in seconds
	Value, Lo, Hi float64
}

// A Ranking says for each figure which machines are outliers.
type Ranking struct {
	// FalseDiscoveryRate is the largest expected share of false outliers.
	FalseDiscoveryRate float64        `json:"false_discovery_rate"`
	Figures            []RankedFigure `json:"figures"`
}

// A RankedFigure is a figure with its tiers and outliers.
type RankedFigure struct {
	Topic    string `json:"topic"`
	Name     string `json:"name"`
	Quantity string `json:"quantity"`
	Unit     string `json:"unit"`
	Better   string `json:"better"`
	// Tiers are in ascending order of their medians.
	Tiers  []Tier  `json:"tiers"`
	Placed []Place `json:"nodes"` // in the order of the values
}

// A Tier is a group of machines with similar values.
type Tier struct {
	Nodes  int     `json:"nodes"`
	Median float64 `json:"median"`
	// Spread is the robust standard deviation of the machines, as a share of the median.
	Spread float64 `json:"spread"`
	// DriftPerDay is the share by which the figure grew per day while the machines were measured; 0 if no drift is
	// significant.
	DriftPerDay stats.Float `json:"drift_per_day"`
}

// Judged reports whether the tier has enough machines for outliers among them to be told.
func (t Tier) Judged() bool { return t.Nodes >= fewestNodes }

// A Place is the position of a machine in its tier.
type Place struct {
	Node int `json:"node"`
	Tier int `json:"tier"`
	// Ratio is the value over the median of its tier at that time. Its interval holds that of the
	// median and that of the value, or the spread of the tier for a value without one.
	Ratio stats.Estimate `json:"ratio"`
	// Rate is the smallest false discovery rate at which the machine is an outlier; 1 in a tier of too
	// few machines.
	Rate    float64 `json:"rate"`
	Outlier bool    `json:"outlier"`
}

const (
	// fewestNodes is the smallest number of machines in a tier.
	fewestNodes = 5
	// tierShare is the smallest share of all machines in a tier: smaller groups are outliers.
	tierShare = 0.05
	// apart is the smallest distance of two tiers, in multiples of their spread. The distance of the two halves
	// of one tier is 2.3 for a normal distribution, and 2.7 for a uniform one.
	apart = 5
	// leastSpread is the smallest spread that is assumed: a figure may be the same on all machines.
	leastSpread  = 0.001
	secondsOfDay = 86400
)

// Rank finds tiers, and outliers at a false discovery rate. It ignores values that are not above 0.
func Rank(figures []Figure, rate float64) Ranking {
	r := Ranking{FalseDiscoveryRate: rate, Figures: []RankedFigure{}}
	var all [][]placed
	for _, f := range figures {
		ranked, tiers := rankFigure(f)
		r.Figures, all = append(r.Figures, ranked), append(all, tiers)
	}
	usual := usualTails(slices.Concat(all...))
	// At first tails are those of the median and the 90th percentile of the distances. Outliers don't reach these, but
	// they say little about healthy machines far out.
	rates := testAll(all, func(tiers []placed, _ int) []float64 {
		return chances(tiers, func(t placed) sides {
			both := tail{min(usual, tailsOf(t.residuals)), 1}
			return sides{both, both}
		})
	})
	bulk := fitBulk(all, func(figure, place int) bool { return rates[figure][place] <= rate })
	for figure, ofFigure := range testAll(all, func(tiers []placed, figure int) []float64 {
		return chances(tiers, func(placed) sides { return bulk.of(figure) })
	}) {
		for i, p := range ofFigure {
			place := &r.Figures[figure].Placed[i]
			place.Rate, place.Outlier = p, p <= rate
		}
	}
	return r
}

// testAll returns, for each figure, the smallest false discovery rate at which each machine is an outlier. chances
// returns the P values of the machines of one figure: the probability that a machine lies as far from the median as this
// one if it is no outlier.
func testAll(all [][]placed, chances func(tiers []placed, figure int) []float64) (rates [][]float64) {
	var values []float64
	var ends []int
	for i, tiers := range all {
		values = append(values, chances(tiers, i)...)
		ends = append(ends, len(values))
	}
	adjusted, from := stats.FalseDiscoveryRates(values), 0
	for _, end := range ends {
		rates, from = append(rates, adjusted[from:end]), end
	}
	return rates
}

// rankFigure finds the tiers of a figure.
func rankFigure(f Figure) (RankedFigure, []placed) {
	r := RankedFigure{Topic: f.Topic, Name: f.Name, Quantity: f.Quantity, Unit: f.Unit, Better: f.Better, Tiers: []Tier{}, Placed: []Place{}}
	values := slices.DeleteFunc(slices.Clone(f.Values), func(v Value) bool { return !(v.Value > 0) || math.IsInf(v.Value, 1) })
	slices.SortFunc(values, func(a, b Value) int { return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Node, b.Node)) })
	logs := stats.Each(values, func(v Value) float64 { return math.Log(v.Value) })
	var tiers []placed
	from := 0
	for _, to := range tierEnds(logs) {
		t := place(values[from:to], logs[from:to])
		for i, v := range values[from:to] {
			r.Placed = append(r.Placed, Place{Node: v.Node, Tier: len(r.Tiers), Ratio: t.ratio(v, i), Rate: 1})
		}
		tiers = append(tiers, t)
		r.Tiers = append(r.Tiers, Tier{Nodes: to - from, Median: math.Exp(t.median), Spread: t.spread, DriftPerDay: stats.FloatOf(math.Expm1(t.slope * secondsOfDay))})
		from = to
	}
	return r, tiers
}

// tierEnds returns the indices at which tiers end in sorted values.
func tierEnds(sorted []float64) []int {
	edge := max(fewestNodes, int(math.Ceil(tierShare*float64(len(sorted)))))
	return joined(sorted, edges(sorted, 0, len(sorted), edge), edge)
}

// edges returns the indices at which groups end. Between two groups values are rarer than among the
// edge values on either side.
func edges(sorted []float64, from, to, edge int) []int {
	best, at := apart*1.0, 0
	for i := from + edge; i+edge <= to; i++ {
		if d := distance(sorted[i-edge:i], sorted[i:i+edge]); d > best {
			best, at = d, i
		}
	}
	if at == 0 {
		return []int{to}
	}
	lower, _ := medianAndDeviation(sorted[at-edge : at])
	upper, _ := medianAndDeviation(sorted[at : at+edge])
	at, _ = slices.BinarySearch(sorted, (lower+upper)/2) // few values lie between the two, if any
	return append(edges(sorted, from, at, edge), edges(sorted, at, to, edge)...)
}

// joined joins neighbouring groups, the nearest first, until all have at least edge values and are as far apart as tiers
// have to be.
func joined(sorted []float64, ends []int, edge int) []int {
	for len(ends) > 1 {
		least, at, from := math.Inf(1), 0, 0
		for i, end := range ends[:len(ends)-1] {
			d := distance(sorted[from:end], sorted[end:ends[i+1]])
			if min(end-from, ends[i+1]-end) < edge {
				d = -1 / d // below any distance; the nearest is the least
			}
			if d < least {
				least, at = d, i
			}
			from = end
		}
		if least >= apart {
			break
		}
		ends = slices.Delete(ends, at, at+1)
	}
	return ends
}

// distance is the distance of two sorted groups, in multiples of the larger spread.
func distance(below, above []float64) float64 {
	lower, lowerSpread := medianAndDeviation(below)
	upper, upperSpread := medianAndDeviation(above)
	return (upper - lower) / max(lowerSpread, upperSpread, leastSpread)
}

// medianAndDeviation returns the median, and the median absolute deviation scaled to the standard
// deviation of a normal distribution.
func medianAndDeviation(values []float64) (median, deviation float64) {
	return stats.Median(values), stats.DeviationOfMAD * stats.MAD(values)
}

// placed is a tier with its machines.
type placed struct {
	median, spread float64
	slope          float64   // of the logarithm, per second
	residuals      []float64 // distances from the median, without the drift
	errors         []float64 // standard errors of the machines' own measurements
	usualError     float64
}

// place computes the median, spread and drift of a tier. A value that was measured long before or after most others
// gets no more drift than those: by a slope of minutes nobody can tell the drift of days.
func place(values []Value, logs []float64) placed {
	t := placed{slope: drift(values, logs)}
	times := stats.Each(values, func(v Value) float64 { return v.At })
	slices.Sort(times)
	early, middle, late := stats.Quantile(times, 0.25), stats.Quantile(times, 0.5), stats.Quantile(times, 0.75)
	level := make([]float64, len(values))
	for i, v := range values {
		at := min(max(v.At, 2*early-late), 2*late-early)
		level[i] = logs[i] - t.slope*(at-middle)
		t.errors = append(t.errors, standardError(v))
	}
	var deviation float64
	t.median, deviation = medianAndDeviation(level)
	for _, l := range level {
		t.residuals = append(t.residuals, l-t.median)
	}
	t.spread = max(deviation, leastSpread)
	t.usualError = stats.Median(t.errors)
	return t
}

// standardError is the standard error of the logarithm of a value, from its 95 % interval; 0 without
// one.
func standardError(v Value) float64 {
	if e := math.Log(v.Hi/v.Lo) / (2 * 1.96); e > 0 && !math.IsInf(e, 1) {
		return e
	}
	return 0
}

// chances returns the P value of each machine of a figure, tier by tier; 1 in a tier of too few machines. tails returns
// the tails of a tier's healthy machines.
func chances(tiers []placed, tails func(t placed) sides) (all []float64) {
	for _, t := range tiers {
		of := tails(t)
		for i, x := range t.residuals {
			if len(t.residuals) < fewestNodes {
				all = append(all, 1)
				continue
			}
			tail := of[side(x)]
			students := distuv.StudentsT{Sigma: tail.scale, Nu: min(tail.degrees, float64(len(t.residuals)-1))}
			all = append(all, 2*students.Survival(t.distance(i)))
		}
	}
	return all
}

// distance is the distance between machine i and the median, in multiples of the spread, or more than the spread for a
// machine that was measured less precisely than others.
func (t placed) distance(i int) float64 {
	// the spread of the machines includes their usual error
	scale := math.Sqrt(t.spread*t.spread + max(0, t.errors[i]*t.errors[i]-t.usualError*t.usualError))
	return math.Abs(t.residuals[i]) / scale
}

// usualTails returns the degrees of freedom of the machines of all figures together, each in multiples of its tier's
// spread. One tier shows too few machines to tell a t distribution with 5 degrees of freedom from a normal one.
func usualTails(tiers []placed) float64 {
	var all []float64
	for _, t := range tiers {
		if len(t.residuals) < enoughForTails || t.spread <= leastSpread {
			continue
		}
		for i := range t.residuals {
			all = append(all, t.distance(i))
		}
	}
	if len(all) == 0 {
		return lightTails
	}
	return tailsOf(all)
}

// ratio is the ratio of machine i to its tier.
func (t placed) ratio(v Value, i int) stats.Estimate {
	ofMedian := 1.2533 * t.spread / math.Sqrt(float64(len(t.residuals)))
	own := t.errors[i]
	if own == 0 { // unknown: at most the spread of the tier
		own = t.spread
	}
	half := 1.96 * math.Hypot(own, ofMedian)
	x := t.residuals[i]
	return stats.Estimate{Value: math.Exp(x), Lo: math.Exp(x - half), Hi: math.Exp(x + half), Unit: "ratio", Statistic: "ratio", N: len(t.residuals)}
}

const (
	lightTails = 100.0 // as good as a normal distribution
	heavyTails = 3.0
	// tailsError over the root of the number of machines is one and a half standard errors of the ratio of two
	// percentiles, as a share, from 1,000 simulated fleets of normally distributed machines.
	tailsError = 1.8
	// enoughForTails is the smallest number of machines that shows how heavy the tails are.
	enoughForTails = 40
)

// tailsOf returns the degrees of freedom of the t distribution in which the ratio of the 90th
// percentile and the median of absolute values is that of the residuals. Outliers are rare enough not
// to reach that percentile.
func tailsOf(residuals []float64) float64 {
	if len(residuals) < enoughForTails {
		return 2 * heavyTails
	}
	far := stats.Each(residuals, math.Abs)
	slices.Sort(far)
	seen := stats.Quantile(far, 0.9) / max(stats.Quantile(far, 0.5), 1e-12)
	seen *= 1 - tailsError/math.Sqrt(float64(len(far))) // so that chance does not make tails look heavy
	return degreesOf(seen, 0.5, 0.9)
}

// mostPairs bounds the work of finding a drift.
const mostPairs = 5_000

// drift is the median slope between pairs of values, per second (Theil 1950, Sen 1968); 0 if values and times are not
// correlated. Of many machines it takes pairs that are spread evenly among all.
func drift(values []Value, logs []float64) float64 {
	n := len(values)
	if !correlated(values, logs) {
		return 0
	}
	stride := max(1, n*(n-1)/2/mostPairs)
	var slopes []float64
	pair := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			pair++
			if dt := values[j].At - values[i].At; pair%stride == 0 && dt != 0 {
				slopes = append(slopes, (logs[j]-logs[i])/dt)
			}
		}
	}
	return stats.Median(slopes)
}

// correlated reports whether the values' ranks are correlated with those of their times, at a level of 1 %: without a
// drift, Spearman's coefficient times the root of n-1 is about normal.
func correlated(values []Value, logs []float64) bool {
	const onePercent = 2.576
	times := stats.Each(values, func(v Value) float64 { return v.At })
	ofTimes, err := stats.TwiceMidranks(times)
	ofLogs, err2 := stats.TwiceMidranks(logs)
	if err != nil || err2 != nil {
		return false
	}
	return math.Abs(stat.Correlation(floats(ofTimes), floats(ofLogs), nil))*math.Sqrt(float64(len(values)-1)) > onePercent
}

func floats(whole []int) (all []float64) {
	for _, n := range whole {
		all = append(all, float64(n))
	}
	return all
}
