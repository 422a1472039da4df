package check

import (
	"fmt"
	"strings"

	"chronoscope/stats"
)

// Question is the question that a check answers.
type Question string

// The questions.
const (
	OrderWithin   Question = "order"             // does it ever step back within a thread?
	OrderAcross   Question = "order-across-cpus" // does it step back from one CPU to another?
	CPUOffset     Question = "cpu-offset"        // do all CPUs show the same?
	CPUSkew       Question = "cpu-skew"          // does it run equally fast on all CPUs?
	Wrap          Question = "wrap"              // does the counter start over?
	Stuck         Question = "stuck"             // does it stand still?
	Stepped       Question = "steps"             // was it set, or did it jump?
	Suspended     Question = "suspend"           // was the machine asleep meanwhile?
	RateChange    Question = "rate-change"       // does it keep its rate?
	Drift         Question = "drift"             // is its rate that of the reference?
	Clocksource   Question = "clocksource"       // did the kernel change what its clocks rest on?
	TimeNamespace Question = "time-namespace"    // is it shifted for this process?
	Pause         Question = "pause"             // was the watching thread away for long?
)

// Finding is the answer to one question about one clock.
type Finding struct {
	Clock string   `json:"clock"`
	Check Question `json:"check"`
	// WorstNs is the largest fault that was seen, in nanoseconds: a step, an
	// offset, or what a drift adds up to over the time that the clock was watched.
	// Missing where it is no length of time, or its unit is not known.
	WorstNs stats.Float `json:"worst_ns"`
	// Estimate is what was measured: an offset in nanoseconds, or a skew or drift in
	// parts per million ("ppm"); nil where the check measures none.
	Estimate *stats.Estimate `json:"estimate"`
	// Notes say what is worth knowing and no fault.
	Notes []string `json:"notes"`
	stats.Judgement
}

func newFinding(clock string, q Question) *Finding {
	return &Finding{Clock: clock, Check: q, Notes: []string{}, Judgement: stats.NewJudgement()}
}

func (f *Finding) worst(ns float64) { f.WorstNs = stats.FloatOf(ns) }

func (f *Finding) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// Skipped is a question that could not be answered, or does not apply: no fault
// of the clocks.
type Skipped struct {
	Check  Question
	Clocks []string
	Reason string
}

// String is the line that a list of caveats holds.
func (s Skipped) String() string {
	return fmt.Sprintf("%s of %s is not judged: %s", s.Check, strings.Join(s.Clocks, ", "), s.Reason)
}

// Report has the findings of all checks.
type Report struct {
	Findings []Finding
	Skipped  []Skipped
	// Offsets are those between the CPUs, of each counter that could be asked.
	Offsets []*Offsets
}

// Caveats are the lines of what was skipped.
func (r *Report) Caveats() []string {
	var caveats []string
	for _, s := range r.Skipped {
		caveats = append(caveats, s.String())
	}
	return caveats
}

func (r *Report) add(f *Finding) { r.Findings = append(r.Findings, *f) }

// skip notes that a question was not answered for a clock. Clocks with the same
// reason share an entry.
func (r *Report) skip(q Question, clock, format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	for i := range r.Skipped {
		if s := &r.Skipped[i]; s.Check == q && s.Reason == reason {
			s.Clocks = append(s.Clocks, clock)
			return
		}
	}
	r.Skipped = append(r.Skipped, Skipped{Check: q, Clocks: []string{clock}, Reason: reason})
}
