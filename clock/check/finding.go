package check

import (
	"fmt"
	"strings"

	"chronoscope/stats"
)

// Question is the name of a question that the checks answer about a clock.
type Question string

// The questions.
const (
	OrderWithin   Question = "order"             // does it ever step back within a thread?
	OrderAcross   Question = "order-across-cpus" // does it step back from one CPU to another?
	CPUOffset     Question = "cpu-offset"        // do all CPUs show the same time?
	CPUSkew       Question = "cpu-skew"          // does it run equally fast on all CPUs?
	Wrap          Question = "wrap"              // does the counter start over?
	Stuck         Question = "stuck"             // does it stand still?
	Stepped       Question = "steps"             // was it set, or did it jump?
	Suspended     Question = "suspend"           // was the machine asleep meanwhile?
	RateChange    Question = "rate-change"       // does it keep its rate?
	Drift         Question = "drift"             // does it run at the rate of the reference?
	Clocksource   Question = "clocksource"       // did the kernel change the clocksource on which its clocks rest?
	TimeNamespace Question = "time-namespace"    // is it shifted for this process?
	Pause         Question = "pause"             // did the watching thread not run for a long time?
)

// Finding is the answer to one question about one clock.
type Finding struct {
	Clock string   `json:"clock"`
	Check Question `json:"check"`
	// WorstNs is the largest fault that was seen, in nanoseconds: a step, an offset, or what a
	// drift adds up to over the time of the watch. It is missing if the fault is no length of
	// time, or if the clock's unit is not known.
	WorstNs stats.Float `json:"worst_ns"`
	// Estimate is what was measured: an offset in nanoseconds, or a skew or drift in parts per
	// million ("ppm"); nil for a check that measures nothing.
	Estimate *stats.Estimate `json:"estimate"`
	// Notes are facts worth knowing that are no faults.
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

// Skipped is a question that could not be answered or does not apply to some clocks. It is no
// fault of these clocks.
type Skipped struct {
	Check  Question
	Clocks []string
	Reason string
}

// String returns the line for a list of caveats.
func (s Skipped) String() string {
	return fmt.Sprintf("%s of %s is not judged: %s", s.Check, strings.Join(s.Clocks, ", "), s.Reason)
}

// Report holds the findings of all checks.
type Report struct {
	Findings []Finding
	Skipped  []Skipped
	// Offsets holds the offsets between the CPUs, for each counter that could be read on them.
	Offsets []*Offsets
}

// Caveats returns a line for each question that was skipped.
func (r *Report) Caveats() []string {
	var caveats []string
	for _, s := range r.Skipped {
		caveats = append(caveats, s.String())
	}
	return caveats
}

func (r *Report) add(f *Finding) { r.Findings = append(r.Findings, *f) }

// skip records that a question was not answered for a clock. Clocks with the same reason share
// an entry.
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
