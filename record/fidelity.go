package record

import (
	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/stats"
)

// Fidelity is the document that says whether counters can be trusted.
type Fidelity struct {
	Header
	Trust
}

// Trust is the part of a document that says whether counters can be trusted.
type Trust struct {
	Sandwiches []Sandwich      `json:"sandwiches"`
	Checks     []check.Finding `json:"checks"`
}

// Sandwich is what one workload says of a counter.
type Sandwich struct {
	Counter     string   `json:"counter"`
	Reference   string   `json:"reference"`
	Independent bool     `json:"independent"` // the two rest on different oscillators
	Workload    string   `json:"workload"`
	Samples     []Paired `json:"samples,omitempty"`
	// Count is how many samples there are, and Migrations how many of them ended on
	// another CPU than they began on.
	Count      int            `json:"count"`
	Migrations int            `json:"migrations"`
	Rate       stats.Estimate `json:"rate_hz"`
	// The largest errors against the rate that was found, and against the one that
	// the counter was calibrated to.
	MaxErrorPPM  *float64      `json:"max_error_ppm"`
	MaxErrorNs   *float64      `json:"max_error_ns"`
	BelievedPPM  *float64      `json:"max_error_calibrated_ppm"`
	BelievedNs   *float64      `json:"max_error_calibrated_ns"`
	PermittedNs  *float64      `json:"permitted_error_ns"` // by steps and pairing
	Faults       []Fault       `json:"faults"`
	Verdict      stats.Verdict `json:"verdict"`
	Reasons      []string      `json:"reasons"`
	VerdictMeans string        `json:"verdict_means"`
}

// Paired is what both clocks made of one run of a workload.
type Paired struct {
	RequestedNs  float64  `json:"requested_ns"`
	ReferenceNs  float64  `json:"reference_ns"`
	CounterTicks int64    `json:"counter_ticks"`
	CounterNs    *float64 `json:"counter_ns"`
}

// Fault is what is wrong with a counter, with its size.
type Fault struct {
	Kind string   `json:"kind"`
	Size *float64 `json:"size"`
	Unit string   `json:"unit"` // "ns", "ppm" or "times"
}

// NewTrust puts what was found into the form of a document, with the samples where
// they are asked for.
func NewTrust(results []fidelity.Result, findings []check.Finding, samples bool) Trust {
	t := Trust{Sandwiches: []Sandwich{}, Checks: append([]check.Finding{}, findings...)}
	for _, r := range results {
		t.Sandwiches = append(t.Sandwiches, newSandwich(r, samples))
	}
	return t
}

func newSandwich(r fidelity.Result, samples bool) Sandwich {
	s := Sandwich{
		Counter: r.Counter, Reference: r.Reference, Independent: r.Independent, Workload: r.Workload,
		Count: len(r.Samples), Migrations: r.Migrations, Rate: r.Rate,
		MaxErrorPPM: stats.Finite(r.Fitted.PPM), MaxErrorNs: stats.Finite(r.Fitted.Ns),
		BelievedPPM: stats.Finite(r.Believed.PPM), BelievedNs: stats.Finite(r.Believed.Ns),
		Faults: []Fault{}, Verdict: r.Verdict, Reasons: r.Reasons, VerdictMeans: r.Meaning,
	}
	permitted := 0.0
	for _, sample := range r.Samples {
		permitted = max(permitted, sample.ErrorNs)
		if samples {
			s.Samples = append(s.Samples, Paired{sample.RequestedNs, sample.ReferenceNs, sample.CounterTicks, stats.Finite(sample.CounterNs)})
		}
	}
	if len(r.Samples) > 0 {
		s.PermittedNs = stats.Finite(permitted)
	}
	for _, f := range r.Faults {
		s.Faults = append(s.Faults, Fault{string(f.Kind), stats.Finite(f.Size), f.Unit})
	}
	return s
}
