package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
	"chronoscope/view"
)

// scatter says how far apart the clocks' costs and qualities are in two rankings, by quantity and
// by the name of the clock.
//
// The interval of a clock within one ranking does not include influences that lasted for the whole
// ranking, such as a busy hyperthread sibling, which makes system calls slower by a quarter. Such
// an influence affects all clocks of a ranking. So the other clocks show how much the figure of an
// unchanged clock may differ: this is a component of variance between rankings, estimated from the
// pair itself.
type scatter map[string]map[string]apart

// apart is a clock's figure in two rankings, on the scale of logarithms: the middle of both values,
// and their distance.
type apart struct{ middle, distance float64 }

const (
	// fewestOthers is the least number of other clocks from which the scatter is estimated.
	fewestOthers = 5
	// scatterShare is the share of the other clocks whose distances don't exceed the scatter. The
	// rest may have changed.
	scatterShare = 0.8
	// The scatter is no less than the distance of any of the mostAlike clocks whose cost or quality
	// is most similar, if their logarithms differ by at most alikeWithin: calls of a few nanoseconds
	// scatter more than others, and so do qualities of clocks whose spread varies.
	mostAlike, alikeWithin = 3, 0.35
	// independent is the largest number of clocks that a scatter is assumed to rest on, since
	// similar clocks change together.
	independent = 6
	// wideScatter is the least scatter that is mentioned as a reason: it hides a change of that
	// size.
	wideScatter = 0.02
)

// isOfClock reports whether a figure belongs to a clock.
func isOfClock(f *view.Figure) bool { return f.Topic == view.TopicClock || f.Topic == view.TopicBest }

// scattersOf returns the scatters of the subjects after the first.
func scattersOf(rows []*joined, subjects int) []scatter {
	all := make([]scatter, subjects-1)
	for i := range all {
		all[i] = scatter{"cost": {}, "quality": {}}
		for _, r := range rows {
			a, b, of := r.figures[0], r.figures[1+i], all[i][r.Quantity]
			if r.Topic == view.TopicClock && of != nil && a != nil && b != nil && hasInterval(a) && hasInterval(b) {
				x, y := math.Log(a.Estimate.Value), math.Log(b.Estimate.Value)
				of[r.Name] = apart{(x + y) / 2, math.Abs(y - x)}
			}
		}
	}
	return all
}

// hasInterval reports whether a figure has an interval above 0.
func hasInterval(f *view.Figure) bool {
	return f.Estimate.Lo > 0 && f.Estimate.Value >= f.Estimate.Lo && stats.IsFinite(f.Estimate.Hi)
}

// around estimates how far apart a quantity of an unchanged clock may be in the two rankings, from
// the distances of the other clocks. distance is a difference of logarithms; n is the number of
// other clocks.
func (s scatter) around(name, quantity string) (distance float64, n int) {
	of, known := s[quantity]
	if !known {
		of = s["cost"]
	}
	own := of[name].middle
	var all []float64
	var nearest []apart
	for other, x := range of {
		if other == name {
			continue
		}
		all = append(all, x.distance)
		if math.Abs(x.middle-own) <= alikeWithin {
			nearest = append(nearest, x)
		}
	}
	slices.SortFunc(nearest, func(x, y apart) int {
		return cmp.Or(cmp.Compare(math.Abs(x.middle-own), math.Abs(y.middle-own)), cmp.Compare(x.distance, y.distance))
	})
	slices.Sort(all)
	distance = stats.Quantile(all, scatterShare)
	for _, x := range nearest[:min(mostAlike, len(nearest))] {
		distance = math.Max(distance, x.distance)
	}
	return distance, len(all)
}

// widen widens the interval of a clock's ratio by the scatter between the two rankings. A ratio of accuracies needs
// none, since they don't depend on how long calls take. The ratio loses its interval if the scatter or the cost's
// interval is not known, or if a verdict is not trusted. widen returns the reasons to show.
func (s scatter) widen(a, b *view.Figure, ratio *stats.Estimate) []string {
	drop := func(reason string, args ...any) []string {
		ratio.Lo, ratio.Hi = math.NaN(), math.NaN()
		return []string{fmt.Sprintf(reason, args...)}
	}
	if a.Verdict != stats.Trusted || b.Verdict != stats.Trusted {
		return drop("a clock that is not trusted in both rankings can't be compared between them")
	}
	if a.Quantity == "accuracy" {
		return nil
	}
	if !hasInterval(a) || !hasInterval(b) {
		if outcome(a, b, *ratio) == Same {
			return nil // the values differ by less than repeated measurements do
		}
		return drop("one of the records doesn't know what the clock costs in its least disturbed rounds: rank the clocks again with this version")
	}
	name := a.Name
	if a.Topic == view.TopicBest {
		name = a.Of
	}
	relative, n := s.around(name, a.Quantity)
	if n < fewestOthers {
		return drop("%s in both records tell nothing of how far costs stray from one ranking to the next: rank all clocks in both", stats.Count(n, "other clock"))
	}
	ratio.Lo = ratio.Value * math.Exp(-math.Hypot(math.Log(ratio.Value/ratio.Lo), relative))
	ratio.Hi = ratio.Value * math.Exp(math.Hypot(math.Log(ratio.Hi/ratio.Value), relative))
	ratio.N = min(ratio.N, n, independent)
	if relative < wideScatter {
		return nil
	}
	return []string{fmt.Sprintf("other clocks differ by %.2g %% in it between the two rankings, and so may this one's: rank again for longer, while less else runs", 100*math.Expm1(relative))}
}
