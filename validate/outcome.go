package validate

import (
	"math"
	"slices"
	"time"

	"chronoscope/stats"
)

// Outcome is the result of one scheme in one cell.
type Outcome struct {
	Scheme string `json:"scheme"`
	Work   Work   `json:"work"`
	Kind   Kind   `json:"kind,omitempty"` // what a whole program does in addition to computing
	Regime
	DurationNs int64          `json:"duration_ns"` // the planned duration
	Expected   stats.Estimate `json:"expected"`    // the truth
	Estimate   stats.Estimate `json:"estimate"`    // the scheme's
	// Error is (Tm - Tc)/Tc as in the source, where Tm is measured and Tc true. It is missing if
	// there is no estimate.
	Error stats.Float `json:"error"`
	// NoTruth says that the truth of the cell is not known, for the reasons in Marks. No scheme is
	// judged by such a cell.
	NoTruth bool     `json:"no_truth"`
	Marks   []string `json:"marks,omitempty"`
	// Covered says whether the scheme's interval contains the truth's value, allowing for the
	// truth's half-width up to truthSlack. It is nil if the scheme gives no interval or no
	// estimate, or if the truth is not known.
	Covered *bool `json:"covered"`
	// Resumed is when the cell was measured, if that was in an earlier start of the validation; nil
	// if it was measured now.
	Resumed *time.Time `json:"resumed_from,omitempty"`
	// Judgement is the scheme's own verdict.
	stats.Judgement
}

// truthSlack limits the part of the truth's own uncertainty that is allowed for, as a share of its
// value. Without a limit, a badly known truth would count every interval as covering.
const truthSlack = 0.01

// holds reports whether the interval of claim contains the truth's value, allowing for the truth's
// half-width up to truthSlack.
func holds(claim, truth stats.Estimate) bool {
	slack := math.Min(truth.HalfWidth(), truthSlack*truth.Value)
	return claim.Lo <= truth.Value+slack && truth.Value-slack <= claim.Hi
}

// newOutcome compares an answer with the truth. The scheme's own verdict stays as it is, even if
// marks say that the truth is not known, so that a wrong "trusted" is visible.
func newOutcome(s Scheme, c Cell, truth stats.Estimate, a Answer, marks []string) Outcome {
	o := Outcome{
		Scheme: s.Name, Work: c.Work, Kind: c.Kind, Regime: c.Regime.Named(), DurationNs: c.Duration.Nanoseconds(), Expected: truth, Estimate: a.Estimate,
		Error: stats.FloatOf((a.Estimate.Value - truth.Value) / truth.Value), Judgement: stats.NewJudgement(),
		Marks: marks, NoTruth: len(marks) > 0,
	}
	o.Join(a.Judgement)
	if s.Claims && !o.NoTruth && o.claims() {
		covered := holds(a.Estimate, truth)
		o.Covered = &covered
	}
	return o
}

// outcomes returns the outcomes of all schemes that are evaluated on a stream.
func outcomes(schemes []Scheme, s *Stream) []Outcome {
	var all []Outcome
	for _, scheme := range schemes {
		if scheme.answer != nil {
			all = append(all, newOutcome(scheme, s.Cell, s.Expected, scheme.answer(s), s.Marks))
		}
	}
	return all
}

// Coverage counts how often a scheme's interval covered the truth, in one regime and with programs
// of one kind.
type Coverage struct {
	Scheme string `json:"scheme"`
	Regime
	Kind Kind `json:"kind,omitempty"`
	// Cells is the number of cells that were judged, and Covered the number of those in which the
	// interval contained the truth. Unusable is the number of other cells, in which the scheme
	// itself said that it has no usable figure.
	Cells    int `json:"cells"`
	Covered  int `json:"covered"`
	Unusable int `json:"unusable"`
	// Unjudged is the number of cells that were left out because their truth is not known.
	Unjudged int `json:"unjudged"`
	// MedianWidth is the median of half the interval's width, as a share of the value.
	MedianWidth stats.Float `json:"median_width"`
}

// CoverageOf counts the cells whose interval contained the truth, for each scheme that gives intervals, each regime and
// each kind, in the order of their first cells.
func CoverageOf(all []Outcome) []Coverage {
	cells := slices.DeleteFunc(slices.Clone(all), func(o Outcome) bool {
		return o.Covered == nil && o.Verdict != stats.Unusable && !(o.NoTruth && o.claims())
	})
	var rows []Coverage
	for _, group := range groups(cells) {
		row := Coverage{Scheme: group[0].Scheme, Regime: group[0].Regime.Named(), Kind: group[0].Kind}
		var widths []float64
		for _, o := range group {
			switch {
			case o.Verdict == stats.Unusable:
				row.Unusable++
				continue
			case o.NoTruth:
				row.Unjudged++
				continue
			case *o.Covered:
				row.Covered++
			}
			row.Cells++
			widths = append(widths, math.Abs(o.Estimate.RelativeHalfWidth()))
		}
		row.MedianWidth = stats.FloatOf(stats.Median(widths))
		rows = append(rows, row)
	}
	return rows
}

// AddedUp is the coverage over several validations. Cells of one validation are not independent of
// one another, since the same other programs ran on the machine.
type AddedUp struct {
	Runs     int        `json:"runs"`
	Coverage []Coverage `json:"coverage"`
}

// AddUp returns the coverage of several validations together.
func AddUp(reports []Report) *AddedUp {
	var all []Outcome
	for _, r := range reports {
		all = append(all, r.Outcomes...)
	}
	return &AddedUp{len(reports), CoverageOf(all)}
}

// claims reports whether the scheme gave an interval.
func (o Outcome) claims() bool { return !math.IsNaN(o.Estimate.Lo) && !math.IsNaN(o.Estimate.Hi) }

// Tolerances are the relative errors for which the reach is found.
var Tolerances = []float64{0.001, 0.01, 0.1}

// Reach says for which durations a scheme stayed within a tolerance, in one regime and with
// programs of one kind.
type Reach struct {
	Scheme string `json:"scheme"`
	Regime
	Kind      Kind    `json:"kind,omitempty"`
	Tolerance float64 `json:"tolerance"`
	// MinDurationNs and MaxDurationNs are the ends of the longest series of neighbouring durations
	// whose errors were within the tolerance; of two equally long series, the one with the longer
	// durations. They are missing if the error exceeded the tolerance at every duration.
	MinDurationNs stats.Float `json:"min_duration_ns"`
	MaxDurationNs stats.Float `json:"max_duration_ns"`
}

// ReachOf returns the reach of each scheme, regime, kind and tolerance. At each duration the work
// with the greatest error counts. A duration without an estimate, or without a truth, is not within
// any tolerance. A scheme has no reach if no cell has a truth.
func ReachOf(all []Outcome) []Reach {
	var rows []Reach
	for _, group := range judgedGroups(all) {
		rows = append(rows, reachOf(group)...)
	}
	return rows
}

// reachOf returns the reach of one group, at each tolerance.
func reachOf(group []Outcome) []Reach {
	var rows []Reach
	for _, tolerance := range Tolerances {
		r := Reach{Scheme: group[0].Scheme, Regime: group[0].Regime.Named(), Kind: group[0].Kind, Tolerance: tolerance}
		r.MinDurationNs, r.MaxDurationNs = longestStretch(worstErrors(group), tolerance)
		rows = append(rows, r)
	}
	return rows
}

// groups divides outcomes by scheme, regime and kind, in the order of their first outcomes.
func groups(all []Outcome) [][]Outcome {
	var groups [][]Outcome
	for _, o := range all {
		i := slices.IndexFunc(groups, func(g []Outcome) bool {
			return g[0].Scheme == o.Scheme && g[0].Regime.Named() == o.Regime.Named() && g[0].Kind == o.Kind
		})
		if i < 0 {
			groups = append(groups, []Outcome{o})
		} else {
			groups[i] = append(groups[i], o)
		}
	}
	return groups
}

// judgedGroups returns the groups in which a truth is known.
func judgedGroups(all []Outcome) [][]Outcome {
	return slices.DeleteFunc(groups(all), func(g []Outcome) bool {
		return !slices.ContainsFunc(g, func(o Outcome) bool { return !o.NoTruth })
	})
}

// durationError is the greatest error at a duration; infinite if an error is not known.
type durationError struct{ ns, worst float64 }

func worstErrors(group []Outcome) []durationError {
	var all []durationError
	for _, o := range group {
		worst := math.Abs(o.Error.Or(math.Inf(1)))
		if o.NoTruth {
			worst = math.Inf(1)
		}
		i := slices.IndexFunc(all, func(d durationError) bool { return d.ns == float64(o.DurationNs) })
		if i < 0 {
			all = append(all, durationError{float64(o.DurationNs), worst})
		} else {
			all[i].worst = math.Max(all[i].worst, worst)
		}
	}
	slices.SortFunc(all, func(a, b durationError) int { return int(math.Copysign(1, a.ns-b.ns)) })
	return all
}

func longestStretch(all []durationError, tolerance float64) (from, to stats.Float) {
	longest, length := 0, 0
	for i, d := range all {
		if d.worst > tolerance {
			length = 0
			continue
		}
		if length++; length >= longest {
			longest = length
			from, to = stats.FloatOf(all[i+1-length].ns), stats.FloatOf(d.ns)
		}
	}
	return from, to
}
