package record

import (
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// Comparison is the document that compares machines or runs.
type Comparison struct {
	Header
	// Subjects are the names of the compared subjects. All others are compared with the first.
	Subjects []string        `json:"subjects"`
	Origins  []Origin        `json:"origins"` // of the subjects, in the same order
	Rows     []ComparisonRow `json:"rows"`
}

// Origin says where a subject of a comparison comes from.
type Origin struct {
	Command string           `json:"command"`
	Started time.Time        `json:"started"`
	Machine *machine.Machine `json:"machine"`
}

// OriginOf returns the origin of a document.
func OriginOf(d Document) Origin {
	h := d.Head()
	return Origin{Command: h.Command, Started: h.Started, Machine: h.Machine}
}

// ComparisonRow is one figure of each subject.
type ComparisonRow struct {
	Topic    string `json:"topic"`    // "clock", "best", "noise", "program", "benchmark" ...
	Name     string `json:"name"`     // of the clock, the program ...
	Quantity string `json:"quantity"` // "quality", "time" ...
	Unit     string `json:"unit"`
	// Better says which values are better: "lower", "higher", or "" for neither.
	Better string `json:"better"`
	// Values has one element for each subject, in the same order; null for a subject without the
	// figure.
	Values []*ComparisonValue `json:"values"`
	// Changes compares each subject after the first with the first; null if there is nothing to
	// compare.
	Changes []*ComparisonChange `json:"changes"`
	// Change and Outcome are the ratio and the outcome of the last element of Changes; null and
	// empty if there is none.
	Change  *stats.Estimate `json:"change"`
	Outcome string          `json:"outcome"`
}

// ComparisonValue is a figure of one subject.
type ComparisonValue struct {
	Estimate stats.Estimate `json:"estimate"`
	Of       string         `json:"of"` // the name of the clock, if the row's name is a purpose
	Verdict  stats.Verdict  `json:"verdict"`
	Reasons  []string       `json:"reasons"`
}

// ComparisonChange compares a figure with that of the first subject.
type ComparisonChange struct {
	// Ratio is the figure over the first subject's, or for ranks the difference.
	Ratio  stats.Estimate `json:"ratio"`
	PValue stats.Float    `json:"p_value"` // null if the samples are not known
	// Outcome is "faster", "slower", "better", "worse", "same", "undecided",
	// "changed" or "incomparable".
	Outcome string   `json:"outcome"`
	Reasons []string `json:"reasons"`
}

// checkSubjects checks that each row has a place for each subject, and each subject an origin.
func (d Comparison) checkSubjects() error {
	if len(d.Origins) != len(d.Subjects) {
		return malformed("origins: there are %d of %d subjects", len(d.Origins), len(d.Subjects))
	}
	for _, o := range d.Origins {
		if o.Machine == nil {
			return malformed("origins: one has no machine")
		}
	}
	for _, r := range d.Rows {
		if len(r.Values) != len(d.Subjects) || len(r.Changes) != max(0, len(d.Subjects)-1) {
			return malformed("rows: %.40q has %d values and %d changes for %d subjects", r.Name, len(r.Values), len(r.Changes), len(d.Subjects))
		}
	}
	return nil
}
