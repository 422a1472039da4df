package fidelity

import (
	"fmt"
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Result is what one workload says of a counter.
type Result struct {
	Counter, Reference, Workload string
	// Independent and Why are the answer of [Independence].
	Independent bool
	Why         string
	Samples     []Sample
	// Rate is that of the counter over the reference in this workload, in Hz. Its
	// interval holds the pairing error, the steps of both clocks and what is known
	// of the reference's rate. Value and bounds are NaN where no sample says
	// anything.
	Rate stats.Estimate
	// Fitted are the largest errors against that rate, Believed those against the
	// rate that the counter is believed to have; of the samples that can be judged.
	Fitted, Believed WorstError
	// Migrations is how many samples are known to have ended on another CPU than
	// they began on.
	Migrations int
	// Faults are what was found; the reasons of the verdict name them.
	Faults []Fault
	stats.Judgement
	// Meaning says what the verdict is worth, in a sentence.
	Meaning string
}

// WorstError is the largest error of some samples, in time and as a share of the
// sample, each of whichever sample it is largest in. NaN where it is not known.
type WorstError struct{ Ns, PPM float64 }

// worstError is over samples whose ticks are tickNs long.
func worstError(samples []Sample, tickNs float64) WorstError {
	if !(tickNs > 0) || math.IsInf(tickNs, 0) || len(samples) == 0 {
		return WorstError{math.NaN(), math.NaN()}
	}
	var w WorstError
	for _, s := range samples {
		off := math.Abs(float64(s.CounterTicks)*tickNs - s.ReferenceNs)
		w.Ns = math.Max(w.Ns, off)
		if s.ReferenceNs > 0 {
			w.PPM = math.Max(w.PPM, 1e6*off/s.ReferenceNs)
		}
	}
	return w
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
	r.Fitted = worstError(judged, 1/perNs.Value)
	r.Believed = worstError(judged, counter.TickNs.Value)
	for _, s := range r.Samples {
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
