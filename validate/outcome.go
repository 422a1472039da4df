package validate

import (
	"math"
	"slices"
	"time"

	"chronoscope/stats"
)

// Outcome is how a scheme did in a cell.
type Outcome struct {
	Scheme string `json:"scheme"`
	Work   Work   `json:"work"`
	Kind   Kind   `json:"kind,omitempty"` // of a whole program that does more than compute
	Regime
	DurationNs int64          `json:"duration_ns"` // that was aimed at
	Expected   stats.Estimate `json:"expected"`    // the truth
	Estimate   stats.Estimate `json:"estimate"`    // the scheme's
	// Error is (Tm - Tc)/Tc, as the source has it; missing where there is no estimate.
	Error stats.Float `json:"error"`
	// NoTruth says that the truth of the cell is not known, as Marks tell, so that no scheme is
	// judged by it.
	NoTruth bool     `json:"no_truth"`
	Marks   []string `json:"marks,omitempty"`
	// Covered says whether the scheme's interval holds the truth's value, within the truth's
	// half-width of at most truthSlack; nil where it claims none, gives no estimate, or there
	// is no truth.
	Covered *bool `json:"covered"`
	// Resumed is when the cell was measured, where an earlier start did that; nil where it was
	// measured now.
	Resumed *time.Time `json:"resumed_from,omitempty"`
	// Judgement is the scheme's own.
	stats.Judgement
}

// truthSlack is how much of the truth's own uncertainty is allowed for, as a share of its
// value. Without a limit, a truth that is known badly would count every claim as held.
const truthSlack = 0.01

// holds reports whether an interval holds the truth's value, within the truth's own half-width
// of at most truthSlack.
func holds(claim, truth stats.Estimate) bool {
	slack := math.Min(truth.HalfWidth(), truthSlack*truth.Value)
	return claim.Lo <= truth.Value+slack && truth.Value-slack <= claim.Hi
}

// newOutcome holds an answer against the truth. The scheme's own verdict stays as it is, also
// where marks say that the truth is not known, so that a wrong "trusted" shows.
func newOutcome(s Scheme, c Cell, truth stats.Estimate, a Answer, marks []string) Outcome {
	o := Outcome{
		Scheme: s.Name, Work: c.Work, Kind: c.Kind, Regime: c.Regime.Named(), DurationNs: c.Duration.Nanoseconds(), Expected: truth, Estimate: a.Estimate,
		Error: stats.FloatOf((a.Estimate.Value - truth.Value) / truth.Value), Judgement: stats.NewJudgement(),
		Marks: marks, NoTruth: len(marks) > 0,
	}
	o.Join(a.Judgement)
	if s.Claims && !o.NoTruth && !math.IsNaN(a.Estimate.Lo) && !math.IsNaN(a.Estimate.Hi) {
		covered := holds(a.Estimate, truth)
		o.Covered = &covered
	}
	return o
}

// outcomes are those of all schemes that are evaluated on a stream.
func outcomes(schemes []Scheme, s *Stream) []Outcome {
	var all []Outcome
	for _, scheme := range schemes {
		if scheme.answer != nil {
			all = append(all, newOutcome(scheme, s.Cell, s.Expected, scheme.answer(s), s.Marks))
		}
	}
	return all
}

// Coverage is how often a scheme's claim held, in one regime, with programs of one kind.
type Coverage struct {
	Scheme string `json:"scheme"`
	Regime
	Kind Kind `json:"kind,omitempty"`
	// Cells were judged; in Covered of them the interval held the truth. In Unusable others the
	// scheme itself said that it has no usable figure.
	Cells    int `json:"cells"`
	Covered  int `json:"covered"`
	Unusable int `json:"unusable"`
	// Unjudged cells were left out, since their truth is not known.
	Unjudged int `json:"unjudged"`
	// MedianWidth is half the interval's width as a share of the value.
	MedianWidth stats.Float `json:"median_width"`
}

// CoverageOf counts, for each scheme that claims something, each regime and each kind, in the
// order of their first cells.
func CoverageOf(all []Outcome) []Coverage {
	var rows []Coverage
	widths := map[int][]float64{}
	for _, o := range all {
		if o.Covered == nil && o.Verdict != stats.Unusable && !(o.NoTruth && o.claims()) {
			continue
		}
		i := slices.IndexFunc(rows, func(c Coverage) bool { return c.Scheme == o.Scheme && c.Regime == o.Regime.Named() && c.Kind == o.Kind })
		if i < 0 {
			i = len(rows)
			rows = append(rows, Coverage{Scheme: o.Scheme, Regime: o.Regime.Named(), Kind: o.Kind})
		}
		switch {
		case o.Verdict == stats.Unusable:
			rows[i].Unusable++
			continue
		case o.NoTruth:
			rows[i].Unjudged++
			continue
		}
		rows[i].Cells++
		if *o.Covered {
			rows[i].Covered++
		}
		widths[i] = append(widths[i], math.Abs(o.Estimate.RelativeHalfWidth()))
	}
	for i := range rows {
		rows[i].MedianWidth = stats.FloatOf(stats.Median(widths[i]))
	}
	return rows
}

// AddedUp is the coverage over several validations: cells of one are not independent of
// one another, as they share what else ran on the machine.
type AddedUp struct {
	Runs     int        `json:"runs"`
	Coverage []Coverage `json:"coverage"`
}

// AddUp is the coverage of several validations together.
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

// Reach says between which durations a scheme kept within a tolerance, in one regime and
// with programs of one kind.
type Reach struct {
	Scheme string `json:"scheme"`
	Regime
	Kind      Kind    `json:"kind,omitempty"`
	Tolerance float64 `json:"tolerance"`
	// MinDurationNs and MaxDurationNs are the ends of the longest run of neighbouring durations
	// at which no error was greater; of two equally long runs, the one of longer durations. They
	// are missing where the error was greater at every duration.
	MinDurationNs stats.Float `json:"min_duration_ns"`
	MaxDurationNs stats.Float `json:"max_duration_ns"`
}

// ReachOf finds the reach of each scheme, regime, kind and tolerance. The worst work of a
// duration counts. A duration without an estimate, or without a truth, is not within any
// tolerance. A scheme has no reach where no cell has a truth.
func ReachOf(all []Outcome) []Reach {
	var rows []Reach
	for _, group := range groups(all) {
		rows = append(rows, reachOf(group)...)
	}
	return rows
}

// reachOf is the reach of one group, at each tolerance.
func reachOf(group []Outcome) []Reach {
	var rows []Reach
	for _, tolerance := range Tolerances {
		r := Reach{Scheme: group[0].Scheme, Regime: group[0].Regime.Named(), Kind: group[0].Kind, Tolerance: tolerance}
		r.MinDurationNs, r.MaxDurationNs = longestStretch(worstErrors(group), tolerance)
		rows = append(rows, r)
	}
	return rows
}

// groups divides outcomes by scheme, regime and kind, in the order of their first ones, and
// leaves out groups without any truth.
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
	return slices.DeleteFunc(groups, func(g []Outcome) bool {
		return !slices.ContainsFunc(g, func(o Outcome) bool { return !o.NoTruth })
	})
}

// durationError is the worst error at a duration: infinite where an error is not known.
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
