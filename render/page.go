package render

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

//go:embed page
var assets embed.FS

var templates = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"pageLines": pageLines, "marks": func() []mark { return marks },
}).ParseFS(assets, "page/*.html", "page/figure.svg"))

// Page writes documents as one HTML page that needs no network and no other file. Documents are
// those of package record, possibly of several machines; the report card comes first, then the
// others in the usual order.
//
// All texts of a document are escaped. The page's Content Security Policy (Level 3, section 6.1)
// allows no script but the page's own, which only pictures of traces and trends need.
func Page(w io.Writer, documents ...record.Document) error {
	p := page{
		Style:      template.CSS(asset("page.css") + chartCSS),
		ScriptHash: "none",
		Version:    record.Schema,
	}
	for _, d := range view.InOrder(documents) {
		s, err := view.Of(d)
		if err != nil {
			return err
		}
		p.Sheets = append(p.Sheets, newPageSheet(fmt.Sprintf("record-%d", len(p.Sheets)+1), s))
	}
	script := ""
	if slices.ContainsFunc(p.Sheets, pageSheet.pictured) {
		script += asset("page.js")
	}
	if slices.ContainsFunc(p.Sheets, pageSheet.trending) {
		script += asset("trends.js")
	}
	if script != "" {
		p.Script, p.ScriptHash = template.JS(script), scriptHash(script)
	}
	return templates.Execute(w, p)
}

// page is the data of the template.
type page struct {
	Style      template.CSS
	Script     template.JS
	ScriptHash string
	Version    string
	Sheets     []pageSheet
}

// Title is the page's title in a browser's tab.
func (p page) Title() string {
	if len(p.Sheets) == 1 {
		return p.Sheets[0].Title + ", " + p.Sheets[0].Machine()
	}
	return fmt.Sprintf("%d records", len(p.Sheets))
}

// pageSheet is a sheet whose parts have identifiers on the page.
type pageSheet struct {
	*view.Sheet
	ID    string
	Parts []pageSection
}

// pictured reports whether a script draws a picture of the sheet.
func (p pageSheet) pictured() bool {
	return slices.ContainsFunc(p.Parts, func(part pageSection) bool { return len(part.Pictures) > 0 })
}

// trending reports whether a script draws trends of the sheet.
func (p pageSheet) trending() bool {
	return slices.ContainsFunc(p.Parts, func(part pageSection) bool { return part.Trends != nil })
}

func newPageSheet(id string, s *view.Sheet) pageSheet {
	p := pageSheet{Sheet: s, ID: id}
	for _, section := range s.Sections {
		if section.In == view.InText {
			continue
		}
		part := pageSection{Section: section, ID: fmt.Sprintf("%s-%d", id, len(p.Parts)+1)}
		for _, c := range section.Charts {
			if c.Lanes != nil {
				part.Pictures = append(part.Pictures, picture{fmt.Sprintf("%s-picture-%d", part.ID, len(part.Pictures)+1), c.Lanes.Name, c.Lanes})
			} else {
				part.Panels = append(part.Panels, panel{c.Title, draw(c)})
			}
		}
		if section.Table != nil && section.Table.In != view.InText {
			part.Data = newDataTable(section.Table)
		}
		if part.shows() {
			p.Parts = append(p.Parts, part)
		}
	}
	return p
}

// Machine returns the first fact, which names the machine.
func (s pageSheet) Machine() string {
	if len(s.Facts) == 0 {
		return ""
	}
	return s.Facts[0]
}

// About distinguishes the sheet from others with the same title: its machine and when it was
// measured.
func (s pageSheet) About() string {
	if s.Started() == "" {
		return s.Machine()
	}
	return s.Machine() + ", " + s.Header.Started.Format("2 January 15:04:05")
}

// AllFacts returns the facts about the machine and about its system.
func (s pageSheet) AllFacts() []string {
	if s.WithoutHead {
		return s.Facts
	}
	return append(slices.Clone(s.Facts), s.SystemFacts()...)
}

// Started is when the measurement began; empty if that is not known, or if the sheet shows several.
func (s pageSheet) Started() string {
	if s.Header.Started.IsZero() || s.WithoutHead {
		return ""
	}
	return s.Header.Started.Format("2 January 2006, 15:04 MST")
}

// Took is how long the command took.
func (s pageSheet) Took() string { return stats.Duration(float64(s.Header.DurationNs), 3) }

// pageSection is a section with its drawings and its table.
type pageSection struct {
	view.Section
	ID       string
	Panels   []panel
	Pictures []picture
	Data     *dataTable
}

// panel is one of the charts of a section.
type panel struct {
	Title   string
	Drawing *drawing
}

// picture is a trace that the reader can zoom.
type picture struct {
	ID, Name string
	Data     *view.Lanes
}

// shows reports whether the section has any content on the page.
func (s pageSection) shows() bool {
	return len(s.Charts) > 0 || s.Trends != nil || s.Data != nil || len(s.Disturbing()) > 0 || len(pageLines(s.Lines)) > 0 || len(pageLines(s.Notes)) > 0
}

// Disturbing returns the findings that need attention.
func (s pageSection) Disturbing() []machine.Finding {
	return slices.DeleteFunc(slices.Clone(s.Findings), func(f machine.Finding) bool { return f.Severity == machine.OK })
}

// pageLines returns the lines that are shown on a page.
func pageLines(all []view.Line) []view.Line {
	return slices.DeleteFunc(slices.Clone(all), func(l view.Line) bool { return l.In == view.InText })
}

// mostOpenRows is the largest number of rows of a table that is not folded.
const mostOpenRows = 12

// Folded reports whether the table opens only at a click.
func (s pageSection) Folded() bool {
	return len(s.Charts) > 0 || len(s.Findings) > 0 || len(s.Data.Rows) > mostOpenRows && !s.Data.open
}

// Fold is the text to click at.
func (s pageSection) Fold() string {
	switch {
	case len(s.Charts) > 0:
		return "Data"
	case len(s.Findings) > 0:
		return "What is as it should be"
	}
	return "All " + stats.Count(len(s.Data.Rows), "row")
}

// dataTable is a table without the columns that only text shows.
type dataTable struct {
	Columns []view.Column
	Rows    [][]dataCell
	open    bool // shown without a click, however many rows there are
}

// Short reports whether a narrow screen shows each row as a list of its cells, so that none is cut.
func (t *dataTable) Short() bool { return t.open || len(t.Rows) <= mostOpenRows }

type dataCell struct {
	view.Cell
	Class  string
	Column string // the name of its column
}

// longText is the least length, in letters, at which a text counts as prose rather than a name.
const longText = 30

func newDataTable(t *view.Table) *dataTable {
	d := &dataTable{open: t.Open}
	for _, c := range t.Columns {
		if c.In != view.InText {
			d.Columns = append(d.Columns, c)
		}
	}
	for _, row := range t.Rows {
		var cells []dataCell
		for i, c := range row {
			if t.Columns[i].In != view.InText {
				cells = append(cells, dataCell{c, classOf(t.Columns[i], c), t.Columns[i].Name})
			}
		}
		d.Rows = append(d.Rows, cells)
	}
	return d
}

// classOf returns the CSS class of a cell: numbers are right-aligned, and long texts keep a least
// width on a narrow screen.
func classOf(column view.Column, c view.Cell) string {
	switch {
	case column.Number:
		return "number"
	case utf8.RuneCountInString(c.Text) > longText:
		return "long"
	}
	return ""
}

// chartCSS is the style sheet of charts. The colour of each cause in page.css is also the colour of
// its bars.
var chartCSS = func() string {
	css := asset("chart.css")
	light, _, _ := strings.Cut(asset("page.css"), "}")
	for _, m := range regexp.MustCompile(`--cause-([a-z-]+):`).FindAllStringSubmatch(light, -1) {
		css += fmt.Sprintf("rect.%[1]s { fill: var(--cause-%[1]s); }\n", m[1])
	}
	return css
}()

func asset(name string) string {
	text, err := assets.ReadFile("page/" + name)
	if err != nil {
		panic(err) // the template is part of this program
	}
	return string(text)
}

// scriptHash returns the hash that allows a script in the page's policy.
func scriptHash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
