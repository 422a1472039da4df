package cli_test

// The documented form of a search for the commit that made something slower.

var commitForm = object{"hash": text, "subject": holds("text", func(string) bool { return true })}

var bisectForm = object{
	"subject": text, "good": text, "bad": text, "range": count, "builds": count,
	"outcome": oneOf("found", "no-change", "opposite", "cant-tell"), "why": holds("text", func(string) bool { return true }),
	"change": estimateForm.check,
	"steps": list(object{
		"first": count, "last": count, "probability": share, "found": boolean, "ratio": estimateForm.check,
		"commits": list(commitForm.check),
	}.check),
	"commits": list(commitForm.with(object{"number": count, "ratio": estimateForm.check}).check),
}

// bisectDocument is the part of a document that says what was found.
type bisectDocument struct {
	Steps []struct {
		First, Last int
		Commits     []struct{ Hash string }
	}
}

// breaches lists how the fields contradict one another.
func (d bisectDocument) breaches(expectation) (all []string) {
	for _, s := range d.Steps {
		if s.Last < s.First || s.First < 1 || len(s.Commits) == 0 || s.First == s.Last && len(s.Commits) != 1 {
			all = append(all, broken("steps", "commits %d to %d, with the names of %d", s.First, s.Last, len(s.Commits))...)
		}
	}
	return all
}
