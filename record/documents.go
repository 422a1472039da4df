package record

import (
	"time"

	"chronoscope/activity"
	"chronoscope/bytecode"
	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/fleet"
	"chronoscope/gobench"
	"chronoscope/lateness"
	"chronoscope/machine"
	"chronoscope/offcpu"
	"chronoscope/program"
	"chronoscope/slowclock"
	"chronoscope/stats"
	"chronoscope/timermeter"
	"chronoscope/validate"
)

// Card is the report card of a machine: the document of the command without a
// subcommand.
type Card struct {
	Header
	timermeter.Ranking
	Trust
	// Traces say how noisy the machine is, without their periods; empty if none could be recorded.
	Traces   []activity.Analysis `json:"traces"`
	Findings []machine.Finding   `json:"findings"`
	Advice   []timermeter.Advice `json:"advice"`
}

// Clocks is the document of the ranking of clocks.
type Clocks struct {
	Header
	timermeter.Ranking
}

// Fidelity is the document that says whether counters can be trusted.
type Fidelity struct {
	Header
	Trust
}

// Trust is the part of a document that says whether counters can be trusted.
type Trust struct {
	Sandwiches []fidelity.Result `json:"sandwiches"`
	Checks     []check.Finding   `json:"checks"`
}

// NoTrust returns a Trust without results; its lists are empty, and not null in JSON.
func NoTrust() Trust { return Trust{Sandwiches: []fidelity.Result{}, Checks: []check.Finding{}} }

// Doctor is the document of findings: what disturbs measurements on a machine.
type Doctor struct {
	Header
	// CPUList names the CPUs that were examined, in the kernel's format ("0-3,8").
	CPUList machine.Text `json:"cpu_list"`
	// WatchedNs is how long the kernel's counters were watched.
	WatchedNs int64             `json:"watched_ns"`
	Findings  []machine.Finding `json:"findings"` // worst first
}

// Activity is the document of activity traces.
type Activity struct {
	Header
	Traces []activity.Analysis `json:"traces"`
	// Switching is the cost of a context switch, measured after the traces on the CPU of the first;
	// null if it could not be measured, for a reason among the caveats.
	Switching *activity.Switching `json:"switching"`
}

// Lateness is the document of how late timers wake threads that wait for them.
type Lateness struct {
	Header
	lateness.Report
	// Load is the number of threads that wanted the CPU, including the waiting one.
	Load int `json:"load"`
}

// SlowClock is the document of an event that was timed with slow clocks, or of a plan to do so.
type SlowClock struct {
	Header
	// EventNs is the requested length of the event; the event comes as close to it as possible.
	EventNs   float64            `json:"event_ns"`
	Estimates []slowclock.Result `json:"estimates"`
	Plan      []slowclock.Row    `json:"plan"`
}

// Programs is the document of how long programs take.
type Programs struct {
	Header
	Results []program.Report `json:"results"` // in the order of the request
	Pairs   []stats.Pair     `json:"pairs"`
	// Shell is the measurement of the shell with an empty command, if the commands were run by a
	// shell. The results include this time.
	Shell *program.Report `json:"shell"`
	// Sort and TimeUnit say how text, pages and tables of other tools show the results, where the
	// user asked for that; both are empty otherwise.
	Sort     Sort     `json:"sort,omitempty"`
	TimeUnit TimeUnit `json:"time_unit,omitempty"`
}

// Sort is an order in which results are shown.
type Sort string

// The orders, in hyperfine's words.
const (
	ByCommand  Sort = "command" // that of the request
	ByMeanTime Sort = "mean-time"
)

// TimeUnit is the unit in which times are shown.
type TimeUnit string

// The units, in hyperfine's words.
const (
	Microsecond TimeUnit = "microsecond"
	Millisecond TimeUnit = "millisecond"
	Second      TimeUnit = "second"
)

// Bench is the document of a module's Go benchmarks.
type Bench struct {
	Header
	Results []gobench.Report `json:"results"`
	Pairs   []stats.Pair     `json:"pairs"` // of two revisions, if requested
	// Gate says which slowdowns the gate can see on this machine, if requested.
	Gate *gobench.GateReport `json:"gate,omitempty"`
	// Missing is what could not be measured; empty if nothing is missing. Benchmarks that failed are among Results.
	Missing []BenchMissing `json:"missing,omitempty"`
}

// BenchMissing is a package that could not be measured, a metric with a limit that no benchmark reports, or, with
// neither name, the rest of a measurement that ended early.
type BenchMissing struct {
	Package  string `json:"package,omitempty"`
	Revision string `json:"revision,omitempty"` // of the package; empty for the working tree
	Metric   string `json:"metric,omitempty"`
	Why      string `json:"why"`
}

// Bytecode is the document of the times of a virtual machine's instructions.
type Bytecode struct {
	Header
	// Report is the first report; Others are those of further virtual machines, and of compilers.
	bytecode.Report
	Others []bytecode.Report `json:"others"`
	// Load is the number of processes that competed for the CPU; left out if there were none.
	Load int `json:"load,omitzero"`
}

// Why is the document that says how threads spent their time: running, or waiting, and what for.
type Why struct {
	Header
	// Subject names the threads: a command, a process, a control group.
	Subject string `json:"subject"`
	// Method is "tracepoints", or "accounts" if tracepoints are unavailable.
	Method string `json:"method"`
	// LateNs is the length of the wait that ended the recording; null if none did.
	LateNs *int64 `json:"late_ns"`
	// Late is the wait that ended the recording; nil in documents that are older than this field.
	Late *offcpu.Period `json:"late,omitempty"`
	// ExitCode is that of a command, or Signal the signal that ended it. Neither is there if the recording ended first.
	ExitCode *int    `json:"exit_code,omitempty"`
	Signal   *string `json:"signal,omitempty"`
	offcpu.Result
}

// Validation is the document that says how good methods are on this machine.
type Validation struct {
	Header
	validate.Report
}

// Fleet is the document that says which machines of a fleet are outliers.
type Fleet struct {
	Header
	// Of is the command whose records are ranked; empty for the report card.
	Of    string      `json:"of"`
	Nodes []FleetNode `json:"nodes"`
	// Outliers are sorted: the machine with the most outliers comes first, and for each machine its
	// largest outlier.
	Outliers []FleetOutlier `json:"outliers"`
	fleet.Ranking
}

// FleetNode is a machine, named after its record.
type FleetNode struct {
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	Machine string    `json:"machine"` // its CPU model, system and clock source
}

// FleetOutlier is a figure in which a machine is an outlier of its tier.
type FleetOutlier struct {
	Node     string `json:"node"`
	Topic    string `json:"topic"`
	Name     string `json:"name"`
	Quantity string `json:"quantity"`
	// Tier is the number of the tier among those of the figure; tier 1 has the smallest values.
	Tier  int            `json:"tier"`
	Ratio stats.Estimate `json:"ratio"`
	Rate  float64        `json:"false_discovery_rate"`
	// Outcome is "worse" or "better", or "differs" if neither direction is better.
	Outcome string `json:"outcome"`
}
