package cli_test

import "fmt"

// comparisonForm is the form of a comparison of records.
var comparisonForm = object{
	"subjects": list(text),
	"rows": list(object{
		"topic": text, "name": text, "quantity": text, "unit": holds("text", func(string) bool { return true }),
		"better": oneOf("lower", "higher", ""),
		"values": list(orNull(object{
			"estimate": estimateForm.check, "of": holds("text", func(string) bool { return true }),
			"verdict": oneOf("trusted", "suspect", "unusable"), "reasons": list(text),
		}.check)),
		"changes": list(orNull(object{
			"ratio": estimateForm.check, "p_value": orNull(share), "outcome": changeOutcome, "reasons": list(text),
		}.check)),
		"change": orNull(estimateForm.check), "outcome": oneOf("", "faster", "slower", "better", "worse", "same", "changed", "undecided", "incomparable"),
	}.check),
}

var changeOutcome = oneOf("faster", "slower", "better", "worse", "same", "changed", "undecided", "incomparable")

// keptForm is the form of the list of records.
var keptForm = object{
	"folder": text,
	"records": list(object{
		"name": text, "command": orNull(holds("text", func(string) bool { return true })), "started": orNull(instant),
		"duration_ns": orNull(size), "interrupted": orNull(boolean), "cpu": orNull(text), "error": orNull(text),
	}.check),
}

// comparisonDocument holds well-formed fields, for rules between them.
type comparisonDocument struct {
	Subjects []string
	Rows     []struct {
		Name    string
		Values  []any
		Changes []*struct {
			Outcome string
			Reasons []string
			Ratio   struct{ Value *float64 }
		}
		Change  *struct{ Value *float64 }
		Outcome string
	}
}

// breaches lists rows without a place for each subject, and changes that contradict themselves.
func (d comparisonDocument) breaches(expectation) []string {
	var all []string
	for i, r := range d.Rows {
		at := fmt.Sprintf("rows[%d]", i)
		if len(r.Values) != len(d.Subjects) || len(r.Changes) != len(d.Subjects)-1 {
			all = append(all, broken(at, "%d values and %d changes of %d subjects", len(r.Values), len(r.Changes), len(d.Subjects))...)
			continue
		}
		for j, c := range r.Changes {
			switch {
			case (c == nil) != (r.Values[0] == nil || r.Values[j+1] == nil):
				all = append(all, broken(at, "change %d is there without both values, or lacks", j)...)
			case c != nil && c.Outcome == "incomparable" && (c.Ratio.Value != nil || len(c.Reasons) == 0):
				all = append(all, broken(at, "change %d is incomparable with a ratio, or for no reason", j)...)
			}
		}
		if last := r.Changes[len(r.Changes)-1]; (last == nil) != (r.Outcome == "") || last != nil && last.Outcome != r.Outcome {
			all = append(all, broken(at, "its outcome %q is not that of the last change", r.Outcome)...)
		}
	}
	return all
}
