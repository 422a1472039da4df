package render

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/view"
)

const (
	// leastColumn is the width, in letters, up to which the columns of a table that is too wide are made narrower.
	leastColumn = 16
	// tableGap separates columns by blanks only, which any terminal shows and any program can split.
	tableGap = 2
	// groupIndent indents the rows below a group's name.
	groupIndent = 2
)

// table writes a table. If it is wider than the terminal, its columns become narrower, and their texts are wrapped.
func (s Style) table(t *view.Table) string {
	shown := textColumns(t)
	widths := s.columnWidths(t, shown)
	var b strings.Builder
	header := make([]view.Cell, len(t.Columns))
	for i, c := range t.Columns {
		header[i].Text = c.Name
	}
	s.row(&b, t, shown, widths, header, 0)
	group, indent := "", 0
	for _, row := range t.Rows {
		if t.Grouped {
			indent = groupIndent
			if row[0].Text != group {
				group = row[0].Text
				b.WriteString(s.bold(group) + "\n")
			}
		}
		s.row(&b, t, shown, widths, row, indent)
	}
	return b.String()
}

// row writes the shown cells of a row; the first one is indented.
func (s Style) row(b *strings.Builder, t *view.Table, shown, widths []int, row []view.Cell, indent int) {
	cells, height := make([][]string, len(shown)), 0
	for n, i := range shown {
		cells[n] = wrapCell(shownText(row[i]), widths[n]-indent)
		for k, part := range cells[n] {
			cells[n][k] = strings.Repeat(" ", indent) + part
		}
		height, indent = max(height, len(cells[n])), 0
	}
	for k := range height {
		var line strings.Builder
		for n, i := range shown {
			part := ""
			if k < len(cells[n]) {
				part = cells[n][k]
			}
			blanks := strings.Repeat(" ", max(widths[n]-letters(part), 0))
			part = s.cell(row[i], part)
			if t.Columns[i].Number {
				part, blanks = blanks+part, ""
			}
			line.WriteString(part + blanks + strings.Repeat(" ", tableGap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// textColumns returns the indices of the columns that text shows.
func textColumns(t *view.Table) (shown []int) {
	for i, c := range t.Columns {
		if c.In != view.OnPage && !(t.Grouped && i == 0) {
			shown = append(shown, i)
		}
	}
	return shown
}

// shownText returns what a cell says.
func shownText(c view.Cell) string { return cmp.Or(string(c.Verdict), c.Text) }

// cell returns a line of a cell in the cell's colours.
func (s Style) cell(c view.Cell, line string) string {
	switch {
	case c.Verdict != "":
		return s.paint(verdictColors[c.Verdict], line)
	case c.Strong:
		return s.bold(line)
	}
	return line
}

// columnWidths returns the width of each column. If the table is wider than the terminal, the widest columns become
// narrower until it fits: those of words first, then those of numbers.
func (s Style) columnWidths(t *view.Table, shown []int) []int {
	widths, least, all := make([]int, len(shown)), make([]int, len(shown)), 0
	for n, i := range shown {
		widths[n] = letters(t.Columns[i].Name)
		indent := 0
		if t.Grouped && n == 0 {
			indent = groupIndent
		}
		for _, row := range t.Rows {
			widths[n] = max(widths[n], letters(shownText(row[i]))+indent)
			least[n] = max(least[n], longestPart(shownText(row[i]))+indent)
			if indent > 0 {
				widths[n] = max(widths[n], letters(row[0].Text))
			}
		}
		least[n] = max(leastColumn, min(least[n], s.Width/2))
		all += widths[n] + tableGap
	}
	for _, numbers := range []bool{false, true} {
		for s.Width > 0 && all > s.Width {
			widest := -1
			for n, i := range shown {
				if t.Columns[i].Number == numbers && widths[n] > least[n] && (widest < 0 || widths[n] > widths[widest]) {
					widest = n
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
			all--
		}
	}
	return widths
}

// letters returns how many columns of a terminal a text takes.
func letters(t string) int { return text.StringWidthWithoutEscSequences(t) }

// breaks are the places within a word at which a line may end, the best first: after punctuation, and between the
// parts of a name.
var breaks = []func(before, after rune) bool{
	func(before, after rune) bool {
		return strings.ContainsRune("/.,:;=(", before) && !unicode.IsDigit(after)
	},
	func(before, after rune) bool {
		return before == '_' || before == '-' || unicode.IsLower(before) && unicode.IsUpper(after)
	},
}

// parts splits a word at the breaks of a kind.
func parts(word string, is func(before, after rune) bool) (all []string) {
	runes, from := []rune(word), 0
	for i := 1; i < len(runes); i++ {
		if is(runes[i-1], runes[i]) {
			all, from = append(all, string(runes[from:i])), i
		}
	}
	return append(all, string(runes[from:]))
}

// longestPart returns the width of the longest part of a text that has no break.
func longestPart(t string) (longest int) {
	any := func(before, after rune) bool { return breaks[0](before, after) || breaks[1](before, after) }
	for _, word := range strings.Fields(t) {
		for _, part := range parts(word, any) {
			longest = max(longest, letters(part))
		}
	}
	return longest
}

// wrapCell breaks a text between words. It breaks a word only if that is wider than a whole line, at the best of its
// breaks.
func wrapCell(t string, width int) (lines []string) {
	for line := range strings.SplitSeq(t, "\n") {
		if letters(line) <= width {
			lines = append(lines, line)
			continue
		}
		words := strings.SplitAfter(line, " ")
		for _, is := range breaks {
			words = split(words, width, is)
		}
		words = split(words, width, func(_, _ rune) bool { return true })
		part := ""
		for _, word := range words {
			if letters(strings.TrimRight(part+word, " ")) > width {
				lines, part = append(lines, strings.TrimRight(part, " ")), ""
			}
			part += word
		}
		lines = append(lines, strings.TrimRight(part, " "))
	}
	return lines
}

// split replaces each word that is wider than a line by its parts.
func split(words []string, width int, is func(before, after rune) bool) (all []string) {
	for _, word := range words {
		if letters(strings.TrimRight(word, " ")) <= width {
			all = append(all, word)
			continue
		}
		all = slices.Concat(all, parts(word, is))
	}
	return all
}
