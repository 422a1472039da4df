package record

import (
	"slices"
	"time"

	"chronoscope/stats"
	"chronoscope/validate"
)

var _ = register[Validation]("validate")

// Validation is the document that says how good methods are on this machine.
type Validation struct {
	Header
	Cells    []ValidationCell    `json:"cells"`
	Reach    []validate.Reach    `json:"reach"`
	Coverage []validate.Coverage `json:"coverage"`
	// AddedUp is the coverage together with that of earlier validations; null where none were
	// given.
	AddedUp *AddedUp `json:"added_up"`
	// Compensation is what it takes off the error of the source's K-best.
	Compensation []validate.Compensation `json:"compensation"`
	Timers       []validate.Timer        `json:"timers"` // gettimeofday and its kin
	Fits         []ValidationFit         `json:"fits"`
	// Samples are the first of each cell; none in records of before they were kept.
	Samples []ValidationSamples `json:"samples,omitempty"`
}

// ValidationSamples are the first samples of a cell, for figures: what the counter and the
// kernel's accounts made of the same work, again and again. An account that could not be read
// has null.
type ValidationSamples struct {
	Work string `json:"work"`
	validate.Regime
	DurationNs  int64          `json:"duration_ns"` // that was aimed at
	Expected    stats.Estimate `json:"expected"`    // the truth
	WallNs      []float64      `json:"wall_ns"`
	TimesNs     []*float64     `json:"times_ns"`
	GetrusageNs []*float64     `json:"getrusage_ns"`
}

// mostSamples of a cell are kept.
const mostSamples = 20

func samplesOf(streams []*validate.Stream) (all []ValidationSamples) {
	for _, s := range streams {
		one := ValidationSamples{Work: string(s.Work), Regime: s.Regime.Named(), DurationNs: s.Duration.Nanoseconds(), Expected: s.Expected}
		for _, x := range s.Samples[:min(len(s.Samples), mostSamples)] {
			one.WallNs, one.TimesNs, one.GetrusageNs = append(one.WallNs, x.WallNs), append(one.TimesNs, x.TimesNs), append(one.GetrusageNs, x.GetrusageNs)
		}
		if len(one.WallNs) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// AddedUp is the coverage over several validations: cells of one are not independent of
// one another, as they share the machine's moods.
type AddedUp struct {
	Runs     int                 `json:"runs"` // this one among them
	Coverage []validate.Coverage `json:"coverage"`
}

// AddUp counts the cells of earlier validations, too.
func (d *Validation) AddUp(earlier []Validation) {
	if len(earlier) == 0 {
		return
	}
	all := d.outcomes()
	for _, e := range earlier {
		all = append(all, e.outcomes()...)
	}
	d.AddedUp = &AddedUp{1 + len(earlier), validate.CoverageOf(all)}
}

// outcomes are what coverage is counted from.
func (d *Validation) outcomes() []validate.Outcome {
	var all []validate.Outcome
	for _, c := range d.Cells {
		o := validate.Outcome{Scheme: c.Scheme, Kind: c.Kind, Regime: c.Regime, Estimate: c.Estimate, Covered: c.Covered, NoTruth: c.NoTruth}
		o.Verdict = c.Verdict
		all = append(all, o)
	}
	return all
}

// ValidationFit is how long short runs of a work took at a load, T(r) = m r + b by the
// number r of their rounds, on which the truth of long ones rests.
type ValidationFit struct {
	Work string `json:"work"`
	validate.Regime
	validate.Fit
}

// ValidationCell is how a scheme did with work of known length.
type ValidationCell struct {
	Scheme string        `json:"scheme"`
	Work   string        `json:"work"`
	Kind   validate.Kind `json:"kind,omitempty"` // of a whole program that does more than compute
	validate.Regime
	DurationNs int64          `json:"duration_ns"` // that was aimed at
	Expected   stats.Estimate `json:"expected"`    // the truth
	Estimate   stats.Estimate `json:"estimate"`
	// Error is a share of the truth; null where there is no estimate.
	Error *float64 `json:"error"`
	// NoTruth says that something was wrong with the cell, as the marks tell, so that it is
	// not judged.
	NoTruth bool     `json:"no_truth"`
	Marks   []string `json:"marks,omitempty"`
	// Covered says whether the scheme's interval holds the truth's value, within the truth's
	// half-width of at most 1 %; null where it claims none, gives no estimate, or there is no
	// truth.
	Covered *bool `json:"covered"`
	// Resumed is when the cell was measured, where an earlier start did that, which was interrupted.
	Resumed *time.Time `json:"resumed_from,omitempty"`
	// Verdict and Reasons are the scheme's own.
	Verdict stats.Verdict `json:"verdict"`
	Reasons []string      `json:"reasons"`
}

// NewValidation puts a report into the form of a document.
func NewValidation(h Header, r *validate.Report) Validation {
	h.Caveats = append(h.Caveats, r.Caveats...)
	d := Validation{Header: h, Cells: []ValidationCell{}, Reach: r.Reach, Coverage: r.Coverage, Fits: fitsOf(r.Streams), Samples: samplesOf(r.Streams)}
	d.Compensation = append([]validate.Compensation{}, r.Compensation...)
	d.Timers = append([]validate.Timer{}, r.Timers...)
	if d.Reach == nil {
		d.Reach = []validate.Reach{}
	}
	if d.Coverage == nil {
		d.Coverage = []validate.Coverage{}
	}
	for _, o := range r.Outcomes {
		d.Cells = append(d.Cells, ValidationCell{
			Scheme: o.Scheme, Work: string(o.Work), Kind: o.Kind, Regime: o.Regime.Named(), DurationNs: o.Duration.Nanoseconds(),
			Expected: o.Expected, Estimate: o.Estimate, Error: stats.Finite(o.Error), Covered: o.Covered, NoTruth: o.NoTruth, Marks: o.Marks,
			Resumed: o.Resumed, Verdict: o.Verdict, Reasons: o.Reasons,
		})
	}
	return d
}

// fitsOf takes each work's at each load: the worst of those that an interrupted validation
// made anew.
func fitsOf(streams []*validate.Stream) []ValidationFit {
	fits := []ValidationFit{}
	for _, s := range streams {
		i := slices.IndexFunc(fits, func(f ValidationFit) bool { return f.Work == string(s.Work) && f.Regime == s.Regime })
		switch {
		case i < 0:
			fits = append(fits, ValidationFit{string(s.Work), s.Regime, s.Fit})
		case s.Fit.Error > fits[i].Error:
			fits[i].Fit = s.Fit
		}
	}
	return fits
}
