package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"chronoscope/view"
)

// progress shows the progress of a measurement on a terminal. It draws only when its caller reports
// progress, between two stretches of measuring, and never from a goroutine of its own.
type progress struct {
	to   io.Writer
	line string // what is shown
}

// usualColumns is the width of a terminal that does not tell its own.
const usualColumns = 80

// show draws the bar again, if the output is a terminal.
func (p *progress) show(share float64, doing string) {
	if isTerminal(p.to) {
		p.draw(share, doing, cmp.Or(widthOf(p.to), usualColumns))
	}
}

// draw draws the bar on one line of a terminal. The last column stays empty: some terminals begin a new line there.
func (p *progress) draw(share float64, doing string, width int) {
	const cells = 24
	done := min(max(share, 0), 0.99)
	full := int(done * cells)
	line := fmt.Sprintf("%3.0f%% |%s%s|  %s", 100*done, strings.Repeat("█", full), strings.Repeat(" ", cells-full), view.OneLine(doing))
	p.replace(cut(line, width-1), width)
}

// end removes the bar from the screen.
func (p *progress) end() {
	if p.line != "" {
		p.replace("", cmp.Or(widthOf(p.to), usualColumns))
		fmt.Fprint(p.to, "\r")
	}
}

// replace writes a line over what is shown. The terminal may have become narrower since: what it wrapped then
// can't be removed.
func (p *progress) replace(line string, width int) {
	rest := min(columnsOf(p.line), width-1) - columnsOf(line)
	fmt.Fprintf(p.to, "\r%s%s", line, strings.Repeat(" ", max(0, rest)))
	p.line = line
}

// cut returns as much of a line as fits into some columns.
func cut(line string, columns int) string {
	for i, letter := range line {
		if columns -= columnsOf(string(letter)); columns < 0 {
			return line[:i]
		}
	}
	return line
}

// columnsOf returns how many columns of a terminal a text takes, or a few more. Letters of East Asia and pictures take two.
func columnsOf(text string) (n int) {
	for _, letter := range text {
		if n++; letter >= 0x1100 && (letter < 0x2000 || letter >= 0x2e80) {
			n++
		}
	}
	return n
}
