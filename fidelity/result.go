package fidelity

import (
	"fmt"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Result is the result of one workload for a counter.
type Result struct {
	Counter   string `json:"counter"`
	Reference string `json:"reference"`
	// Independent and Why are the results of [Independence]: whether the two clocks rest on
	// different oscillators, and why.
	Independent bool     `json:"independent"`
	Why         string   `json:"-"`
	Workload    string   `json:"workload"`
	Samples     []Sample `json:"samples,omitempty"`
	// Count is the number of samples. Migrations is the number of samples that are known to have
	// ended on another CPU than they started on.
	Count      int `json:"count"`
	Migrations int `json:"migrations"`
	// Rate is the rate of the counter against the reference in this workload, in Hz. Its interval
	// includes the pairing error, the steps of both clocks and the uncertainty of the reference's
	// rate. Value and bounds are NaN if no sample tells the rate.
	Rate stats.Estimate `json:"rate_hz"`
	// MaxErrorPPM and MaxErrorNs are the largest errors compared with that rate, CalibratedPPM and
	// CalibratedNs those compared with the rate from the counter's calibration. They only include
	// samples that can be judged.
	MaxErrorPPM   stats.Float `json:"max_error_ppm"`
	MaxErrorNs    stats.Float `json:"max_error_ns"`
	CalibratedPPM stats.Float `json:"max_error_calibrated_ppm"`
	CalibratedNs  stats.Float `json:"max_error_calibrated_ns"`
	// PermittedNs is the largest error that the steps of the clocks and the pairing error explain.
	PermittedNs stats.Float `json:"permitted_error_ns"`
	// Faults are the faults that were found; the reasons of the verdict name them.
	Faults []Fault `json:"faults"`
	stats.Judgement
	// Meaning says in a sentence what the verdict means.
	Meaning string `json:"verdict_means"`
}

// worstError returns the largest error of the samples if a tick is tickNs long: relative to the
// sample's length, and in nanoseconds. The two may come from different samples.
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

// fewestSamples is the least number of samples by which a workload can be judged.
const fewestSamples = 3

// judge completes the results, whose samples must all be of the same two clocks.
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

// measure sets the rate and the largest errors.
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
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return disturbed(counter, s) })
}

// judge sets the faults that this workload shows, and the verdict.
func (r *Result) judge(d *diagnosis, workload int) {
	r.Judgement = stats.NewJudgement()
	judged := len(undisturbed(d.counter, r.Samples))
	if judged < fewestSamples {
		r.Lower(stats.Suspect, "%d of %d samples can be judged, %d are needed: let it run longer, on a quieter machine", judged, len(r.Samples), fewestSamples)
	}
	if longest := longestNs(r.Samples); 2*stepNs(d.counter) >= longest && longest > 0 {
		r.Lower(stats.Suspect, "it moves in steps of up to %s, so that nothing can be told from intervals of %s: take longer ones", stats.Duration(stepNs(d.counter), 3), stats.Duration(longest, 3))
	}
	if off := d.reference.TickNs.RelativeHalfWidth(); r.Independent && 1e6*off > WorstReachPPM {
		r.Lower(stats.Suspect, "the rate of %s is known to ± %s only, so that the counter's rate can't be judged: let it run longer, or take monotonic-raw, and judge the intervals alone", r.Reference, partsPerMillion(1e6*off))
	}
	for _, f := range d.findings {
		if fault, ok := f.of(workload, d.all); ok {
			r.Faults = append(r.Faults, fault)
			r.Lower(fault.Verdict, "%s", fault.Says)
		}
	}
	r.Meaning = r.meaning()
}

// judgeCircumstances lowers the verdict of all results if the clocks were not the same throughout:
// if the counter had to share its hardware with others for a part of the time (perf_event_open(2),
// "multiplexing"), or if the kernel's clocksource changed. If one of the clocks follows the
// clocksource, its change may be the cause of all other faults.
func judgeCircumstances(results []Result, before, after string, running float64) {
	for i := range results {
		r := &results[i]
		if running < 1 {
			r.Lower(stats.Suspect, "it counted for %.3g %% of the time, as it had to share a counter of the hardware with others: end what else counts, such as perf", 100*running)
		}
		if before != after && before != "" && after != "" {
			found := r.Judgement
			r.Judgement = stats.NewJudgement()
			r.Lower(stats.Suspect, "the kernel changed its clocksource from %s to %s meanwhile, and with it the rate and the cost of its clocks: test again", before, after)
			if followsClocksource(r.Counter) || followsClocksource(r.Reference) {
				found.Verdict = stats.Suspect
			}
			r.Join(found)
		}
		r.Meaning = r.meaning()
	}
}

func longestNs(samples []Sample) float64 {
	longest := 0.0
	for _, s := range samples {
		longest = math.Max(longest, s.ReferenceNs)
	}
	return longest
}

// meaning says what the verdict means, given what the reference can show.
func (r *Result) meaning() string {
	switch {
	case r.Verdict != stats.Trusted:
		return fmt.Sprintf("rely on intervals of %s only where the reasons don't matter", r.Counter)
	case r.Independent:
		return fmt.Sprintf("intervals of %s are true, and so is its rate, to ± %s: %s", r.Counter, partsPerMillion(1e6*r.Rate.RelativeHalfWidth()), r.Why)
	}
	return fmt.Sprintf("%s is read faithfully; of its rate this says nothing, since %s", r.Counter, r.Why)
}
