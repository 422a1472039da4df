package record

import (
	"chronoscope/activity"
	"chronoscope/stats"
)

// Switching is what it costs when a CPU goes from one thread to another.
type Switching struct {
	CPU      int            `json:"cpu"`
	Clock    string         `json:"clock"`
	Cost     stats.Estimate `json:"cost"` // of one switch
	LeastNs  *float64       `json:"min_ns"`
	P95Ns    *float64       `json:"p95_ns"`
	Switches int            `json:"switches"`
	// Cold is what the caches that the other thread left behind cost.
	Cold    []ColdCache   `json:"cold"`
	Verdict stats.Verdict `json:"verdict"`
	Reasons []string      `json:"reasons"`
	Caveats []string      `json:"caveats"`
}

// ColdCache is the time of one walk through a working set: warm, after a switch to
// a thread that touches nothing, and after one that sweeps the caches. Extra is
// what the sweep costs.
type ColdCache struct {
	Bytes           int            `json:"bytes"`
	Pattern         string         `json:"pattern"` // "sequential" or "random"
	Warm            stats.Estimate `json:"warm"`
	AfterIdleSwitch stats.Estimate `json:"after_idle_switch"`
	AfterBusySwitch stats.Estimate `json:"after_busy_switch"`
	Extra           stats.Estimate `json:"extra"`
}

// NewSwitching puts what was measured into the form of a document.
func NewSwitching(s *activity.Switching) *Switching {
	d := &Switching{
		CPU: s.CPU, Clock: s.Clock, Cost: s.Cost, LeastNs: stats.Finite(s.LeastNs), P95Ns: stats.Finite(s.P95Ns),
		Switches: s.Switches, Cold: []ColdCache{}, Verdict: s.Verdict, Reasons: s.Reasons,
		Caveats: append([]string{}, s.Caveats...),
	}
	for _, c := range s.Cold {
		d.Cold = append(d.Cold, ColdCache{c.Bytes, string(c.Pattern), c.Warm, c.AfterIdleSwitch, c.AfterBusySwitch, c.Extra})
	}
	return d
}
