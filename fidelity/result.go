package fidelity

import (
	"fmt"
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Result is the result of one workload for a counter.
type Result struct {
	Counter   string `json:"counter"`
	Reference string `json:"reference"`
	// Independent and Why are the answer of [Independence]: whether the two rest on different
	// oscillators.
	Independent bool     `json:"independent"`
	Why         string   `json:"-"`
	Workload    string   `json:"workload"`
	Samples     []Sample `json:"samples,omitempty"`
	// Count is the number of samples, and Migrations how many of them are known to have
	// ended on another CPU than they began on.
	Count      int `json:"count"`
	Migrations int `json:"migrations"`
	// Rate is that of the counter over the reference in this workload, in Hz. Its
	// interval holds the pairing error, the steps of both clocks and what is known
	// of the reference's rate. Value and bounds are NaN where no sample says
	// anything.
	Rate stats.Estimate `json:"rate_hz"`
	// MaxErrorPPM and MaxErrorNs are the largest errors against that rate, and
	// CalibratedPPM and CalibratedNs those against the rate that the counter was
	// calibrated to; of the samples that can be judged.
	MaxErrorPPM   stats.Float `json:"max_error_ppm"`
	MaxErrorNs    stats.Float `json:"max_error_ns"`
	CalibratedPPM stats.Float `json:"max_error_calibrated_ppm"`
	CalibratedNs  stats.Float `json:"max_error_calibrated_ns"`
	// PermittedNs is the largest error that the steps of the clocks and the pairing explain.
	PermittedNs stats.Float `json:"permitted_error_ns"`
	// Faults are the faults that were found; the reasons of the verdict name them.
	Faults []Fault `json:"faults"`
	stats.Judgement
	// Meaning says what the verdict is worth, in a sentence.
	Meaning string `json:"verdict_means"`
}

// worstError is the largest error of samples whose ticks are tickNs long: as a share of the
// sample, and in time, each of the sample in which it is largest.
func worstError(samples []Sample, tickNs float64) (ppm, ns stats.Float) {
	if !(tickNs > 0) || math.IsInf(tickNs, 0) || len(samples) == 0 {
		return stats.Float{}, stats.Float{}
	}
	var mostPPM, mostNs float64
	for _, s := range samples {
		off := math.Abs(float64(s.CounterTicks)*tickNs - s.ReferenceNs)
		mostNs = math.Max(mostNs, off)
		if s.ReferenceNs > 0 {
			mostPPM = math.Max(mostPPM, 1e6*off/s.ReferenceNs)
		}
	}
	return stats.FloatOf(mostPPM), stats.FloatOf(mostNs)
}

// fewestSamples is how many judge a workload.
const fewestSamples = 3

// judge completes results, whose samples are of the same two clocks.
func judge(counter, reference clock.Rated, results []Result) {
	samples := make([][]Sample, len(results))
	for i := range results {
		samples[i] = results[i].Samples
	}
	d := diagnose(counter, reference, samples)
	for i := range results {
		results[i].measure(counter, reference)
		results[i].judge(d, i)
	}
}

// measure fills in the rate and the largest errors.
func (r *Result) measure(counter, reference clock.Rated) {
	judged := undisturbed(counter, r.Samples)
	perNs := fitRate(judged, stepTicks(counter))
	off := perNs.Value * reference.TickNs.RelativeHalfWidth()
	perNs.Lo, perNs.Hi = perNs.Lo-off, perNs.Hi+off
	r.Rate = perNs.Scaled(1e9, "Hz")
	r.MaxErrorPPM, r.MaxErrorNs = worstError(judged, 1/perNs.Value)
	r.CalibratedPPM, r.CalibratedNs = worstError(judged, counter.TickNs.Value)
	r.Count = len(r.Samples)
	for _, s := range r.Samples {
		r.PermittedNs = stats.FloatOf(math.Max(r.PermittedNs.Or(0), s.ErrorNs))
		if s.Migrated() {
			r.Migrations++
		}
	}
}

func undisturbed(counter clock.Rated, samples []Sample) []Sample {
	var kept []Sample
	for _, s := range samples {
		if !disturbed(counter, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// judge names the faults that this workload shows.
func (r *Result) judge(d *diagnosis, workload int) {
	r.Judgement = stats.NewJudgement()
	judged := len(undisturbed(d.counter, r.Samples))
	if judged < fewestSamples {
		r.Lower(stats.Suspect, "%d of %d samples can be judged, %d are needed: let it run longer, on a quieter machine", judged, len(r.Samples), fewestSamples)
	}
	if longest := longestNs(r.Samples); 2*stepNs(d.counter) >= longest && longest > 0 {
		r.Lower(stats.Suspect, "it moves in steps of up to %s, so that nothing can be told from intervals of %s: take longer ones", stats.Duration(stepNs(d.counter), 3), stats.Duration(longest, 3))
	}
	for _, f := range d.findings {
		if fault, ok := f.of(workload, d.all); ok {
			r.Faults = append(r.Faults, fault)
			r.Lower(fault.Verdict, "%s", fault.Says)
		}
	}
	r.Meaning = r.meaning()
}

// judgeCircumstances lowers the trust in all results where the clocks were not the
// same throughout: the counter had to share its hardware with others for a part of
// the time (perf_event_open(2), "multiplexing"), or the kernel's clocks changed what
// they rest on. The latter may be all there is to whatever else was found.
func judgeCircumstances(results []Result, before, after string, running float64) {
	for i := range results {
		r := &results[i]
		if running < 1 {
			r.Lower(stats.Suspect, "it counted for %.3g %% of the time, as it had to share a counter of the hardware with others: end what else counts, such as perf", 100*running)
		}
		if before != after && before != "" && after != "" {
			found := r.Reasons
			r.Judgement = stats.NewJudgement()
			r.Lower(stats.Suspect, "the kernel changed its clocksource from %s to %s meanwhile, and with it the rate and the cost of its clocks: test again", before, after)
			for _, reason := range found {
				r.Lower(stats.Suspect, "%s", reason)
			}
		}
		r.Meaning = r.meaning()
	}
}

// longestNs is the longest of the samples, by the reference.
func longestNs(samples []Sample) float64 {
	longest := 0.0
	for _, s := range samples {
		longest = math.Max(longest, s.ReferenceNs)
	}
	return longest
}

// meaning puts the verdict beside what the reference can tell.
func (r *Result) meaning() string {
	switch {
	case r.Verdict != stats.Trusted:
		return fmt.Sprintf("rely on intervals of %s only where the reasons don't matter", r.Counter)
	case r.Independent:
		return fmt.Sprintf("intervals of %s are true, and so is its rate: %s", r.Counter, r.Why)
	}
	return fmt.Sprintf("%s is read faithfully; of its rate this says nothing, since %s", r.Counter, r.Why)
}
