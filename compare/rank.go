package compare

import (
	"math"
	"slices"
	"strings"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// rankRows returns the ranks by quality of the clocks that all subjects have. Clocks of the same
// quality share the better rank. A rank has changed if the clock has overtaken another one or has fallen
// behind one. That counts only if the qualities of the two clocks differ by more than
// [view.QualityRepeatability] in both subjects, once in each direction.
func rankRows(rows []record.ComparisonRow) (ranks []record.ComparisonRow) {
	var qualities []record.ComparisonRow
	for _, r := range rows {
		if r.Topic == view.TopicClock && r.Quantity == "quality" && !slices.Contains(r.Values, nil) {
			qualities = append(qualities, r)
		}
	}
	if len(qualities) < 2 {
		return nil
	}
	for _, own := range qualities {
		row := record.ComparisonRow{
			Topic: view.TopicClock, Name: own.Name, Quantity: "rank", Unit: "rank", Better: view.Lower,
			Changes: []*record.ComparisonChange{},
		}
		for i, v := range own.Values {
			row.Values = append(row.Values, &record.ComparisonValue{Estimate: rank(qualities, own, i), Verdict: v.Verdict, Reasons: v.Reasons})
			if i > 0 {
				row.Changes = append(row.Changes, rankChange(qualities, own, row.Values, i))
			}
		}
		finish(&row)
		ranks = append(ranks, row)
	}
	return ranks
}

func rank(qualities []record.ComparisonRow, own record.ComparisonRow, subject int) stats.Estimate {
	place := 1
	for _, other := range qualities {
		if at(other, subject) > at(own, subject) {
			place++
		}
	}
	return stats.Estimate{Value: float64(place), Lo: math.NaN(), Hi: math.NaN(), Unit: "rank", Statistic: "rank", N: len(qualities)}
}

// at returns the quality of a subject's clock.
func at(r record.ComparisonRow, subject int) float64 { return r.Values[subject].Estimate.Value }

// rankChange returns by how many ranks a clock has fallen.
func rankChange(qualities []record.ComparisonRow, own record.ComparisonRow, ranks []*record.ComparisonValue, subject int) *record.ComparisonChange {
	c := &record.ComparisonChange{Ratio: noRatio(), Outcome: Same, Reasons: []string{}}
	c.Ratio.Value, c.Ratio.Unit, c.Ratio.Statistic = ranks[subject].Estimate.Value-ranks[0].Estimate.Value, "ranks", "difference"
	var behind, overtaken []string
	for _, other := range qualities {
		before, after := ahead(own, other, 0), ahead(own, other, subject)
		switch {
		case before > 0 && after < 0:
			behind = append(behind, other.Name)
		case before < 0 && after > 0:
			overtaken = append(overtaken, other.Name)
		}
	}
	if len(behind) > 0 {
		c.Reasons = append(c.Reasons, "fell behind "+strings.Join(behind, ", "))
	}
	if len(overtaken) > 0 {
		c.Reasons = append(c.Reasons, "overtook "+strings.Join(overtaken, ", "))
	}
	if len(c.Reasons) > 0 {
		c.Outcome = Changed
	}
	return c
}

// ahead returns 1 if a clock is better than another, -1 if it is worse, and 0 if they are tied.
func ahead(own, other record.ComparisonRow, subject int) int {
	switch d := at(own, subject) - at(other, subject); {
	case d > view.QualityRepeatability:
		return 1
	case d < -view.QualityRepeatability:
		return -1
	}
	return 0
}
