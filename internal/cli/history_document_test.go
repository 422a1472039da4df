package cli_test

import "fmt"

// historyForm is the documented form of series and their changes.
var historyForm = object{
	"store": text, "commit_url": anyText, "newest_commit": anyText,
	"records": list(object{
		"name": text, "started": instant, "commit": anyText, "commit_time": orNull(instant), "subject": anyText, "modified": boolean, "go": anyText,
	}.check),
	"unreadable": list(object{"name": text, "error": text}.check),
	"unusable?":  list(object{"topic": text, "name": anyText, "quantity": text, "tier": text, "values": count, "newest": boolean}.check),
	"series": list(object{
		"topic": text, "name": anyText, "quantity": text, "unit": anyText, "better": oneOf("lower", "higher", ""),
		"tier": text, "cpu": anyText, "system": anyText, "kernel": anyText, "hypervisor": anyText, "clocksource": anyText, "arch": anyText,
		"go": anyText, "began": anyText, "noise": orNull(size), "unusable": count, "newest": oneOf("usable", "new", "unusable", "missing", ""),
		"points": list(object{
			"record": count, "value": number, "lo": orNull(number), "hi": orNull(number), "verdict": oneOf("trusted", "suspect", "unusable"), "outlier": boolean,
		}.check),
		"regimes": list(object{"first": count, "last": count, "level": estimateForm.check}.check),
		"changes": list(object{
			"at": count, "first": count, "last": count, "change": estimateForm.check, "p_value": share, "outcome": changeOutcome, "mended_by": orNull(count),
		}.check),
		"tip": orNull(object{"points": count, "change": estimateForm.check, "p_value": share, "outcome": changeOutcome}.check),
	}.check),
}

// historyDocument holds well-formed fields, for rules between them.
type historyDocument struct {
	Records []struct{}
	Series  []struct {
		Points  []struct{ Record int }
		Regimes []struct{ First, Last int }
		Changes []struct{ At, First, Last int }
	}
}

// breaches lists series whose regimes leave a gap, or whose changes are not between regimes.
func (d historyDocument) breaches(expectation) []string {
	var all []string
	for i, s := range d.Series {
		at, next := fmt.Sprintf("series[%d]", i), 0
		for _, r := range s.Regimes {
			if r.First != next || r.Last < r.First {
				all = append(all, broken(at, "a regime of %d to %d comes after %d", r.First, r.Last, next-1)...)
			}
			next = r.Last + 1
		}
		if next != len(s.Points) || len(s.Changes) != len(s.Regimes)-1 {
			all = append(all, broken(at, "%d points, %d of them in %d regimes with %d changes", len(s.Points), next, len(s.Regimes), len(s.Changes))...)
			continue
		}
		for k, c := range s.Changes {
			if c.At != s.Regimes[k+1].First || c.First > c.At || c.Last < c.At {
				all = append(all, broken(at, "a change at %d, of %d to %d, before a regime from %d on", c.At, c.First, c.Last, s.Regimes[k+1].First)...)
			}
		}
	}
	return all
}
