// Package compare compares machines or runs: documents in, rows out.
//
// Each document yields figures. Figures of the same topic, name and quantity form one row, and each
// is compared with that of the first subject. Figures that can't be compared, because their units or
// works differ or one is unusable, are marked as incomparable and have no ratio.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"chronoscope/record"
	"chronoscope/remedy"
	"chronoscope/view"
)

// Subject is a document to compare, with a name.
type Subject struct {
	Name     string
	Document record.Document
}

// Subjects compares two or more documents with the first of them. h is the header of the
// comparison, to which caveats are added.
//
// If a document has no topic in common with the first, the error is a [MismatchError].
func Subjects(h record.Header, subjects []Subject) (record.Comparison, error) {
	d := record.Comparison{Header: h, Subjects: []string{}, Origins: []record.Origin{}, Rows: []record.ComparisonRow{}}
	d.Caveats = slices.Clone(h.Caveats)
	all := make([][]view.Figure, len(subjects))
	for i, s := range subjects {
		d.Subjects = append(d.Subjects, s.Name)
		d.Origins = append(d.Origins, record.OriginOf(s.Document))
		all[i] = view.FiguresOf(s.Document)
	}
	if err := checkTopics(subjects, all); err != nil {
		return d, err
	}
	joined := withoutStandIns(join(all))
	scatters := scattersOf(joined, len(subjects))
	for _, r := range joined {
		d.Rows = append(d.Rows, r.row(scatters))
	}
	d.Rows = append(d.Rows, rankRows(d.Rows)...)
	d.Caveats = append(d.Caveats, caveatsOn(subjects, d.Rows)...)
	return d, nil
}

// MismatchError says that two documents have nothing that could be compared.
type MismatchError struct{ A, B Subject }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s holds %s and %s holds %s: there is nothing in both to compare", e.A.Name, contents(e.A), e.B.Name, contents(e.B))
}

func contents(s Subject) string {
	if topics := topicsOf(view.FiguresOf(s.Document)); len(topics) > 0 {
		return "figures of " + strings.Join(topics, ", ")
	}
	return "no figures"
}

func topicsOf(figures []view.Figure) (topics []string) {
	for _, f := range figures {
		if !slices.Contains(topics, f.Topic) {
			topics = append(topics, f.Topic)
		}
	}
	return topics
}

// checkTopics checks that each document has a topic in common with the first.
func checkTopics(subjects []Subject, all [][]view.Figure) error {
	first := topicsOf(all[0])
	for i := range subjects[1:] {
		if !slices.ContainsFunc(topicsOf(all[1+i]), func(t string) bool { return slices.Contains(first, t) }) {
			return &MismatchError{subjects[0], subjects[1+i]}
		}
	}
	return nil
}

// caveatsOn returns the caveats on the whole comparison.
func caveatsOn(subjects []Subject, rows []record.ComparisonRow) (caveats []string) {
	for _, s := range subjects {
		if h := s.Document.Head(); h.Interrupted {
			caveats = append(caveats, s.Name+" was interrupted: what it lacks was not measured")
		}
	}
	caveats = append(caveats, inherited(subjects)...)
	if compared(rows, view.TopicProgram, view.TopicBenchmark) {
		caveats = append(caveats, "measured one after the other: a core's rate, and what else runs, may differ by some percent from one time to the next; "+remedy.Of(remedy.InTurn)+" measure in turn")
	}
	if compared(rows, view.TopicEvent) {
		caveats = append(caveats, "an event is made anew each time, to about the length that was asked for: what the fine clock says of each tells how far they differ")
	}
	if clocksApart(rows) {
		caveats = append(caveats, "no clock was measured in all: "+remedy.Of(remedy.Published)+" measures those that were published")
	}
	return caveats
}

// mostNamed limits the subjects that a caveat names.
const mostNamed = 3

// inherited returns the caveats of the documents, each once, with the names of the documents that
// have it.
func inherited(subjects []Subject) (caveats []string) {
	var order []string
	names := map[string][]string{}
	for _, s := range subjects {
		for _, c := range s.Document.Head().Caveats {
			if names[c] == nil {
				order = append(order, c)
			}
			if !slices.Contains(names[c], s.Name) {
				names[c] = append(names[c], s.Name)
			}
		}
	}
	for _, c := range order {
		list := strings.Join(names[c][:min(len(names[c]), mostNamed)], ", ")
		if more := len(names[c]) - mostNamed; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		caveats = append(caveats, list+": "+c)
	}
	return caveats
}

// compared reports whether a row of these topics has a ratio.
func compared(rows []record.ComparisonRow, topics ...string) bool {
	return slices.ContainsFunc(rows, func(r record.ComparisonRow) bool {
		return slices.Contains(topics, r.Topic) && r.Change != nil
	})
}

// clocksApart reports whether there are clocks, but none that all subjects have.
func clocksApart(rows []record.ComparisonRow) bool {
	clocks := 0
	for _, r := range rows {
		if r.Topic == view.TopicClock {
			clocks++
			if !slices.Contains(r.Values, nil) {
				return false
			}
		}
	}
	return clocks > 0
}
