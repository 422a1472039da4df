package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/view"
)

// Style says how text is written.
type Style struct {
	Color bool // the output is a terminal with colours
	Width int  // of the terminal, in letters; 0 if there is none
}

// blockWidth is the width of labelled lines if the output is no terminal, or if the terminal is wider:
// longer lines are hard to read. Other lines are wrapped only for a terminal, to no less than leastWidth,
// since programs that read the text expect whole lines.
const blockWidth, leastWidth, endless = 96, 40, 1 << 20

// width returns the greatest length of a line.
func (s Style) width(labelled bool) int {
	switch {
	case labelled && (s.Width <= 0 || s.Width > blockWidth):
		return blockWidth
	case s.Width <= 0:
		return endless
	}
	return max(s.Width, leastWidth)
}

func (s Style) paint(c text.Colors, t string) string {
	if !s.Color || t == "" {
		return t
	}
	return c.Sprint(t)
}

func (s Style) bold(t string) string { return s.paint(text.Colors{text.Bold}, t) }
func (s Style) dim(t string) string  { return s.paint(text.Colors{text.Faint}, t) }

var verdictColors = map[stats.Verdict]text.Colors{
	stats.Trusted: {text.FgGreen}, stats.Suspect: {text.FgYellow}, stats.Unusable: {text.FgRed},
}

var severityColors = map[machine.Severity]text.Colors{
	machine.OK: {text.FgGreen}, machine.Note: {text.FgYellow}, machine.Warning: {text.FgRed},
}

// Text writes a sheet for people: the machine, then a block for each part of each section, with
// empty lines between them, and the caveats at the end.
func Text(w io.Writer, sheet *view.Sheet, s Style) error {
	var blocks []string
	if !sheet.WithoutHead {
		blocks = append(blocks, s.bold(strings.Join(sheet.Facts, ", "))+"\n"+s.dim(strings.Join(sheet.SystemFacts(), ", "))+"\n")
	}
	for _, section := range sheet.Sections {
		if section.In != view.OnPage {
			blocks = append(blocks, s.section(section)...)
		}
	}
	blocks = append(blocks, s.caveats(sheet))
	blocks = slices.DeleteFunc(blocks, func(b string) bool { return b == "" })
	_, err := io.WriteString(w, strings.Join(blocks, "\n"))
	return err
}

// section returns the blocks of a section; its heading is above the first.
func (s Style) section(section view.Section) (blocks []string) {
	blocks = append(blocks, s.lines(section.Lines), s.findings(section.Findings))
	if section.Table != nil && section.Table.In != view.OnPage {
		blocks = append(blocks, s.table(section.Table))
	}
	blocks = append(blocks, s.lines(section.Notes))
	blocks = slices.DeleteFunc(blocks, func(b string) bool { return b == "" })
	if section.Heading != "" && len(blocks) > 0 {
		blocks[0] = s.bold(section.Heading) + "\n" + blocks[0]
	}
	return blocks
}

// leastLabel is the least width of the column of labels, which are indented by two blanks.
const leastLabel = 10

// lines writes lines, wrapped to the width. If one has a label, all are indented by a column of
// labels.
func (s Style) lines(all []view.Line) string {
	all = slices.DeleteFunc(slices.Clone(all), func(l view.Line) bool { return l.In == view.OnPage })
	column := 0
	for _, l := range all {
		if l.Label != "" {
			column = max(column, leastLabel, utf8.RuneCountInString(l.Label)+2)
		}
	}
	var b strings.Builder
	before := ""
	for _, l := range all {
		first, rest := "", "  "
		if column > 0 {
			label := l.Label
			if label == before {
				label = ""
			}
			before = l.Label
			first, rest = fmt.Sprintf("  %-*s", column, label), strings.Repeat(" ", column+2)
		}
		if text := strings.TrimLeft(l.Text, " "); l.Strong == "" && l.Verdict == "" {
			indent := l.Text[:len(l.Text)-len(text)]
			first, rest, l.Text = first+indent, rest+indent, text
		}
		for i, part := range wrap(s.line(l), s.width(column > 0)-utf8.RuneCountInString(rest)) {
			lead := rest
			if i == 0 {
				lead = first
			}
			b.WriteString(strings.TrimRight(lead+part, " ") + "\n")
		}
	}
	return b.String()
}

// line returns a line with its colours, without its label.
func (s Style) line(l view.Line) string {
	painted := l
	painted.Strong = s.bold(l.Strong)
	plain := painted.String()
	if l.Verdict == "" {
		return plain
	}
	return s.paint(verdictColors[l.Verdict], string(l.Verdict)) + strings.TrimPrefix(plain, string(l.Verdict))
}

// wrap breaks a text between words. It keeps existing line breaks.
func wrap(t string, width int) []string {
	var lines []string
	for part := range strings.SplitSeq(t, "\n") {
		for wrapped := range strings.SplitSeq(text.WrapSoft(part, width), "\n") {
			lines = append(lines, strings.TrimRight(wrapped, " "))
		}
	}
	return lines
}

// findings lists what disturbs measurements, each with its effect and what helps. What needs no
// change is named in one line.
func (s Style) findings(all []machine.Finding) string {
	var blocks, fine []string
	for _, f := range all {
		if f.Severity == machine.OK {
			fine = append(fine, f.Topic)
			continue
		}
		block := ""
		for i, line := range []string{fmt.Sprintf("%s %s: %s", s.paint(severityColors[f.Severity], string(f.Severity)), s.bold(f.Topic), f.Seen), "effect: " + f.Effect, "fix: " + f.Fix} {
			for j, part := range wrap(line, s.width(false)-4) {
				block += strings.Repeat("  ", min(i, 1)+min(j, 1)) + part + "\n"
			}
		}
		blocks = append(blocks, block)
	}
	if len(fine) > 0 {
		blocks = append(blocks, s.paint(severityColors[machine.OK], string(machine.OK))+" "+strings.Join(fine, ", ")+"\n")
	}
	return strings.Join(blocks, "\n")
}

// caveats writes the limitations of the whole document.
func (s Style) caveats(sheet *view.Sheet) string {
	var b strings.Builder
	if sheet.Header.Interrupted {
		b.WriteString("Interrupted: this is what was measured so far.\n")
	}
	if len(sheet.Caveats) > 0 {
		b.WriteString(s.bold("Caveats") + "\n")
	}
	for _, c := range sheet.Caveats {
		for i, part := range wrap(c, s.width(false)-4) {
			b.WriteString(strings.Repeat("  ", 1+min(i, 1)) + part + "\n")
		}
	}
	return b.String()
}
