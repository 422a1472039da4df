// Package view says what is shown of a document: tiles, lines, tables and charts, as data.
//
// A [Sheet] shows one document of package record. It consists of sections, each with lines of text,
// a table, and charts. Package render turns a sheet into text for a terminal, a page for a browser,
// and figures. Each kind of document has one file here, which registers it.
package view

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// Medium says where a part of a sheet is shown.
type Medium int

// Charts are always shown on pages and in figures, and never in text.
const (
	Everywhere Medium = iota
	InText
	OnPage
)

// Sheet shows one document.
type Sheet struct {
	Title       string // the subject
	Header      record.Header
	Facts       []string // about the machine, the most important first
	Tiles       []Tile
	Sections    []Section
	Caveats     []string
	WithoutHead bool // text begins with the first section, not with the machine
}

// Tile is a result in one sentence, with its figure. Tiles are shown on pages.
type Tile struct {
	Topic, Figure, Sentence string
	Verdict                 stats.Verdict // empty if there is none
}

// Section is a part of a sheet.
type Section struct {
	Title   string // on a page
	Lead    string // on a page: what the section shows, and how to read it
	Heading string // in text, on a line of its own; empty for none
	In      Medium
	Lines   []Line // before the table
	Legend  []Key  // of the charts
	Charts  []Chart
	Trends  *Trends
	Table   *Table
	Notes   []Line // after the table
	// Findings say what disturbs measurements.
	Findings []machine.Finding
}

// Line is a line of text: a label in a column of its own, a verdict, the most important words, and
// the rest. Any of them may be empty.
type Line struct {
	Label   string
	Verdict stats.Verdict
	Strong  string
	Text    string
	In      Medium
}

// String returns the line without its label.
func (l Line) String() string {
	text := l.Text
	if l.Strong != "" {
		text = strings.TrimSpace(l.Strong + " " + text)
	}
	switch {
	case l.Verdict == "":
		return text
	case text == "":
		return string(l.Verdict)
	case l.Strong != "":
		return string(l.Verdict) + " " + text
	}
	return string(l.Verdict) + ": " + text
}

// say returns a line of text.
func say(format string, args ...any) Line { return Line{Text: fmt.Sprintf(format, args...)} }

func labelled(label, format string, args ...any) Line {
	return Line{Label: label, Text: fmt.Sprintf(format, args...)}
}

// reasonLines returns one line for each reason of a verdict.
func reasonLines(verdict stats.Verdict, label string, reasons []string) (lines []Line) {
	for _, reason := range reasons {
		lines = append(lines, Line{Label: label, Verdict: verdict, Text: reason})
	}
	return lines
}

// Table has rows under named columns.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	In      Medium
	// Grouped says that, in text, each value of the first column is a line above its rows.
	Grouped bool
	// Open says that a page shows the table without a click, however many rows it has.
	Open bool
}

// Column is a column of a table.
type Column struct {
	Name   string
	Number bool // right-aligned
	In     Medium
}

// Cell is a text or a verdict.
type Cell struct {
	Text    string
	Verdict stats.Verdict
	Strong  bool
	URL     string // the target of a link on a page; empty for no link
}

// webLink is a cell with a link to another page; without a link if the URL is empty.
type webLink struct{ Text, URL string }

// strong is the text of a cell in bold.
type strong string

// words and numbers return columns of text and of numbers. A name that begins with "text:" or
// "page:" is shown only there.
func words(names ...string) []Column   { return columns(false, names) }
func numbers(names ...string) []Column { return columns(true, names) }

func columns(number bool, names []string) (all []Column) {
	for _, name := range names {
		c := Column{Name: name, Number: number}
		if rest, ok := strings.CutPrefix(name, "text:"); ok {
			c.Name, c.In = rest, InText
		}
		if rest, ok := strings.CutPrefix(name, "page:"); ok {
			c.Name, c.In = rest, OnPage
		}
		all = append(all, c)
	}
	return all
}

// table returns a table without rows.
func table(columns ...[]Column) *Table {
	t := &Table{}
	for _, group := range columns {
		t.Columns = append(t.Columns, group...)
	}
	return t
}

// row adds a row of texts, verdicts, numbers and other cells. It has a cell for each column: cells that are missing are
// empty, and values beyond the columns are left out, since a record may hold fewer or more than the table shows.
func (t *Table) row(values ...any) {
	row := make([]Cell, 0, len(t.Columns))
	for _, v := range values[:min(len(values), len(t.Columns))] {
		switch v := v.(type) {
		case stats.Verdict:
			row = append(row, Cell{Verdict: v})
		case webLink:
			row = append(row, Cell{Text: v.Text, URL: v.URL})
		case strong:
			row = append(row, Cell{Text: string(v), Strong: true})
		default:
			row = append(row, Cell{Text: fmt.Sprint(v)})
		}
	}
	t.Rows = append(t.Rows, append(row, make([]Cell, len(t.Columns)-len(row))...))
}

// add appends the sections that have something to show, without empty charts and tables.
func (s *Sheet) add(sections ...Section) {
	for _, part := range sections {
		if part.Table != nil && len(part.Table.Rows) == 0 {
			part.Table = nil
		}
		part.Charts = where(part.Charts, Chart.shows)
		if part.Table != nil || part.Trends != nil || len(part.Charts)+len(part.Lines)+len(part.Notes)+len(part.Findings) > 0 {
			s.Sections = append(s.Sections, part)
		}
	}
}

// sheet returns a new sheet for a document.
func sheet(title string, h record.Header) *Sheet {
	return &Sheet{Title: title, Header: h, Facts: machineFacts(h.Machine), Caveats: caveatsForPeople(h.Caveats)}
}

// ofField matches caveats about a field of the JSON document, such as "steal_ns is null".
var ofField = regexp.MustCompile(`(^|: )[a-z0-9_]+ is null `)

// caveatsForPeople leaves out the caveats about fields of JSON, and names what is not known of the
// machine in one caveat.
func caveatsForPeople(all []string) (caveats []string) {
	var unknown []string
	for _, c := range all {
		topic, isUnknown := machine.UnknownTopic(c)
		switch {
		case isUnknown:
			unknown = append(unknown, topic)
		case !ofField.MatchString(c):
			caveats = append(caveats, c)
		}
	}
	if len(unknown) > 0 {
		caveats = append(caveats, "not known of this machine, or in part: "+strings.Join(unknown, ", ")+"; chronoscope doctor says why")
	}
	return caveats
}

// machineFacts describes the machine: its CPU, the number of CPUs, the rates of core and counter.
func machineFacts(m *machine.Machine) []string {
	if m == nil {
		return []string{"unknown machine"}
	}
	facts := []string{cmp.Or(string(m.CPU), "unknown CPU"), stats.Count(m.CPUs, "CPU")}
	if m.CoreHz != nil {
		facts = append(facts, fmt.Sprintf("core at %.2f GHz", *m.CoreHz/1e9))
	}
	if m.TSCHz != nil {
		facts = append(facts, fmt.Sprintf("counter at %.6f MHz", *m.TSCHz/1e6))
	}
	return facts
}

// SystemFacts describes the system of the machine: kernel, clock source, hypervisor, version of Go,
// load.
func (s *Sheet) SystemFacts() (facts []string) {
	m := s.Header.Machine
	if m == nil {
		return nil
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

// folds collects remarks that apply to several things, in the order in which they were first added.
type folds struct {
	order []fold
	names map[fold][]string
}

// fold is one remark: a verdict or another mark, and the text.
type fold struct {
	verdict stats.Verdict
	mark    string
	text    string
}

func (f *folds) add(what fold, name string) {
	if f.names == nil {
		f.names = map[fold][]string{}
	}
	if f.names[what] == nil {
		f.order = append(f.order, what)
	}
	f.names[what] = append(f.names[what], name)
}

// lines writes each remark with the names that it applies to; most limits their number. A remark that
// applies to all names is written without them.
func (f *folds) lines(all, most int) (lines []Line) {
	for _, what := range f.order {
		names := ""
		if len(f.names[what]) != all {
			names = listed(distinct(f.names[what], func(name string) string { return name }), most)
		}
		about := strings.TrimSpace(what.mark + " " + names)
		if about == "" {
			lines = append(lines, Line{Verdict: what.verdict, Text: what.text})
			continue
		}
		lines = append(lines, Line{Verdict: what.verdict, Strong: about + ":", Text: what.text})
	}
	return lines
}

// figure matches a number or a duration in a text, with the flag that it is a value of.
var figure = regexp.MustCompile(`(?:--[a-z-]+ )?(?:(?:\d+(?:\.\d+)?(?:h|ms|m|µs|ns|s))+\b|\d+(?:\.\d+)?(?:e[+-]\d+)?)`)

// ranged maps each text to a form that it shares with all texts that differ from it only in their
// figures: a figure that differs is replaced by the range of its values, and the value of a flag by the largest.
func ranged(texts []string) map[string]string {
	alike := map[string][]string{}
	for _, text := range texts {
		alike[masked(text)] = append(alike[masked(text)], text)
	}
	joined := map[string]string{}
	for _, text := range texts {
		of := alike[masked(text)]
		i := -1
		joined[text] = figure.ReplaceAllStringFunc(text, func(string) string {
			i++
			return rangeOf(of, i)
		})
	}
	return joined
}

// masked returns a text with each figure replaced, but with the names of flags.
func masked(text string) string {
	return figure.ReplaceAllStringFunc(text, func(found string) string { return found[:strings.LastIndex(found, " ")+1] + "0" })
}

// rangeOf returns the range of the i-th figure of each text, or the largest if it is the value of a flag.
func rangeOf(texts []string, i int) string {
	var all []string
	for _, text := range texts {
		all = append(all, figure.FindAllString(text, -1)[i])
	}
	byValue := func(a, b string) int { return cmp.Compare(figureValue(a), figureValue(b)) }
	least, most := slices.MinFunc(all, byValue), slices.MaxFunc(all, byValue)
	if least == most || strings.HasPrefix(most, "--") {
		return most
	}
	return least + "–" + most
}

// figureValue returns the value of a figure, of a duration in nanoseconds.
func figureValue(figure string) float64 {
	text := figure[strings.LastIndex(figure, " ")+1:]
	if d, err := time.ParseDuration(text); err == nil {
		return float64(d)
	}
	value, _ := strconv.ParseFloat(text, 64)
	return value
}

// listed joins names. If there are more than most, it joins the first of them and says how many
// more there are.
func listed(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
