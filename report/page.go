package report

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

//go:embed page
var pageAssets embed.FS

var pageTemplate = template.Must(template.New("page.html").ParseFS(pageAssets, "page/*.html"))

// Page writes documents as one HTML page that needs nothing else: no network, no other
// file. Documents are those of package record, of several machines if need be; the
// report card comes first, then the others in the usual order.
//
// What a document holds is shown as text, as [Harmless] has it, never taken for markup, and the page's policy
// lets no script run but its own (Content Security Policy Level 3, section 6.1).
func Page(w io.Writer, documents ...record.Document) error {
	p := page{
		Style:   template.CSS(asset("page.css")),
		Script:  template.JS(asset("page.js")),
		Version: record.Schema,
	}
	p.ScriptHash = scriptHash(string(p.Script))
	for _, d := range inPageOrder(documents) {
		s, err := newSheet(Shown(d))
		if err != nil {
			return err
		}
		s.ID = fmt.Sprintf("record-%d", len(p.Sheets)+1)
		s.number()
		p.Sheets = append(p.Sheets, s)
	}
	return pageTemplate.Execute(w, p)
}

// page is what the template shows.
type page struct {
	Style      template.CSS
	Script     template.JS
	ScriptHash string
	Version    string
	Sheets     []*sheet
}

// Title is the page's name in a browser's tab.
func (p page) Title() string {
	if len(p.Sheets) == 1 {
		return p.Sheets[0].Title + ", " + p.Sheets[0].Machine
	}
	return fmt.Sprintf("%d records", len(p.Sheets))
}

// sheet shows one document.
type sheet struct {
	ID          string // unique on the page
	Title       string
	Machine     string
	Facts       []string
	Started     string
	Took        string
	Interrupted bool
	Tiles       []tile
	Sections    []section
	Caveats     []string
}

// tile is a result in one sentence, with its figure.
type tile struct {
	Topic, Figure, Sentence string
	Verdict                 stats.Verdict // empty where there is none to give
}

// section is a part of a sheet: a figure with its data, or a table alone.
type section struct {
	ID       string
	Title    string
	Lead     string // what it shows, and how to read it
	Legend   []legendKey
	Panels   []panel
	Pictures []*picture
	Findings []machine.Finding
	Notes    []string
	Table    *dataTable
}

// Figured reports that there is a figure, of which the table holds the data.
func (s section) Figured() bool { return len(s.Panels) > 0 || len(s.Pictures) > 0 }

// mostOpenRows of a table are shown unasked.
const mostOpenRows = 12

// Folded reports that the table opens at a click.
func (s section) Folded() bool {
	return s.Figured() || len(s.Findings) > 0 || len(s.Table.Rows) > mostOpenRows
}

// Fold is what to click at.
func (s section) Fold() string {
	switch {
	case s.Figured():
		return "Data"
	case len(s.Findings) > 0:
		return "What is as it should be"
	}
	return "All " + numbered(len(s.Table.Rows), "row")
}

// panel is one of the charts of a section.
type panel struct {
	Title string
	Chart *chart
}

// number gives every part of the sheet a name of its own on the page.
func (s *sheet) number() {
	for i := range s.Sections {
		s.Sections[i].ID = fmt.Sprintf("%s-%d", s.ID, i+1)
		for j, p := range s.Sections[i].Pictures {
			p.ID = fmt.Sprintf("%s-picture-%d", s.Sections[i].ID, j+1)
		}
	}
}

// add appends a section that has something to show.
func (s *sheet) add(sections ...section) {
	for _, part := range sections {
		if part.Figured() || part.Table != nil && len(part.Table.Rows) > 0 || len(part.Findings) > 0 || len(part.Notes) > 0 {
			s.Sections = append(s.Sections, part)
		}
	}
}

// newSheet turns a document into what is shown of it.
func newSheet(document record.Document) (*sheet, error) {
	switch d := document.(type) {
	case record.Card:
		return cardSheet(d), nil
	case record.Clocks:
		return clocksSheet(d), nil
	case record.Fidelity:
		return fidelitySheet(d), nil
	case record.Activity:
		return activitySheet(d), nil
	case record.Doctor:
		return doctorSheet(d), nil
	case record.Programs:
		return programsSheet(d), nil
	case record.Bench:
		return benchSheet(d), nil
	case record.SlowClock:
		return slowClockSheet(d), nil
	case record.Validation:
		return validationSheet(d), nil
	case record.Bytecode:
		return bytecodeSheet(d), nil
	case record.Comparison:
		return comparisonSheet(d), nil
	}
	return nil, fmt.Errorf("a page can't show a document of type %T: give it one of package record", document)
}

// pageOrder is that of the commands whose documents a page shows: the report card first,
// whose command has no name, and the details after it.
var pageOrder = []string{"", "clocks", "fidelity", "activity", "doctor", "run", "bench", "slowclock", "bytecode", "validate", "compare"}

func inPageOrder(documents []record.Document) []record.Document {
	place := func(d record.Document) int { return slices.Index(pageOrder, d.Head().Command) }
	sorted := slices.Clone(documents)
	slices.SortStableFunc(sorted, func(a, b record.Document) int { return cmp.Compare(place(a), place(b)) })
	return sorted
}

// sheetOf starts the sheet of a document.
func sheetOf(title string, h record.Header) *sheet {
	s := &sheet{Title: title, Machine: "unknown machine", Interrupted: h.Interrupted, Caveats: h.Caveats, Took: duration(float64(h.DurationNs))}
	if !h.Started.IsZero() {
		s.Started = h.Started.Format("2 January 2006, 15:04 MST")
	}
	if m := h.Machine; m != nil {
		s.Machine, s.Facts = or(string(m.CPU), s.Machine), machineFacts(m)
	}
	return s
}

// machineFacts are what else is to be known of a machine.
func machineFacts(m *machine.Machine) []string {
	facts := []string{numbered(m.CPUs, "CPU")}
	if m.CoreHz != nil {
		facts = append(facts, fmt.Sprintf("core at %.2f GHz", *m.CoreHz/1e9))
	}
	if m.TSCHz != nil {
		facts = append(facts, fmt.Sprintf("counter at %.6f MHz", *m.TSCHz/1e6))
	}
	for _, fact := range []struct{ name, value string }{
		{"", strings.TrimSpace(string(m.OS) + " " + string(m.Kernel))},
		{"clocksource ", string(m.Clocksource)},
		{"hypervisor ", string(m.Hypervisor)},
		{"", string(m.Go)},
	} {
		if fact.value != "" {
			facts = append(facts, fact.name+fact.value)
		}
	}
	if m.Load1 != nil {
		facts = append(facts, fmt.Sprintf("load %.2f", *m.Load1))
	}
	return facts
}

func asset(name string) string {
	text, err := pageAssets.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is part of this program
	}
	return string(text)
}

// scriptHash names a script in a page's policy.
func scriptHash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
