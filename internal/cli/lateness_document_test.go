package cli_test

// This file has the documented form of how late timers are.

var tailsForm = object{
	"percentiles": list(estimateForm.check), "worst_ns": orNull(number), "n": count, "reasons": list(text),
}

var latenessForm = object{
	"timer_slack_ns": orNull(size), "load": count,
	"timers": list(object{
		"name": text, "requested_ns": size, "periodic": boolean, "wakes": count, "early": count, "missed": count,
		"late": object{
			"min_ns": orNull(number), "median_ns": orNull(number), "p95_ns": orNull(number), "p99_ns": orNull(number), "max_ns": orNull(number),
		}.check,
		"percentiles": tailsForm.check, "drift_ppm": orNull(number), "drift": estimateForm.check, "quality": orNull(number),
		"verdict": verdict, "reasons": list(text),
	}.check),
}

// latenessDocument is the part of a document that says how late timers are.
type latenessDocument struct {
	Timers []struct {
		Name    string
		Wakes   int
		Quality *float64
		Verdict string
		Reasons []string
	}
}

// breaches lists contradictions between fields.
func (d latenessDocument) breaches(expectation) []string {
	var all []string
	for _, t := range d.Timers {
		if (t.Verdict == "trusted") != (len(t.Reasons) == 0) {
			all = append(all, broken(t.Name, "%s for %d reasons", t.Verdict, len(t.Reasons))...)
		}
		if q := t.Quality; q != nil && (*q < 0 || *q > 1) {
			all = append(all, broken(t.Name, "a quality of %v", *q)...)
		}
		if t.Wakes == 0 && t.Verdict != "unusable" {
			all = append(all, broken(t.Name, "it never fired, and is %s", t.Verdict)...)
		}
	}
	return all
}
