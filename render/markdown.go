package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// Markdown writes programs as the table of hyperfine --export-markdown, whose columns are wall
// times, with further columns: the time without other programs, CPU time, the wait for a CPU, and
// the verdict. All are in one unit ([unitOfTable]). A command without a run that counts has a row, too.
func Markdown(w io.Writer, d record.Programs) error {
	row := func(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
	return tableForm{9, "", "|:---|---:|---:|---:|---:|---:|---:|---:|:---|\n", "", codeSpan, row}.write(w, d)
}

// AsciiDoc writes the table of hyperfine --export-asciidoc.
func AsciiDoc(w io.Writer, d record.Programs) error {
	row := func(cells []string) string { return "\n| " + strings.Join(cells, " \n| ") + " \n" }
	return tableForm{hyperfines, "[cols=\"<,>,>,>,>\"]\n|===", "", "|===\n", within("`"), row}.write(w, d)
}

// OrgMode writes the table of hyperfine --export-orgmode.
func OrgMode(w io.Writer, d record.Programs) error {
	row := func(cells []string) string {
		return "| " + cells[0] + "  |  " + strings.Join(cells[1:], " |  ") + " |\n"
	}
	return tableForm{hyperfines, "", "|--+--+--+--+--|\n", "", within("="), row}.write(w, d)
}

// hyperfines is the number of columns of hyperfine's tables.
const hyperfines = 5

// tableForm says how a table is written: how many columns it has, what stands before the head, below it and at the end,
// and how commands are quoted.
type tableForm struct {
	columns          int
	start, rule, end string
	quoted           func(command string) string
	row              func(cells []string) string
}

func within(mark string) func(string) string {
	return func(command string) string { return mark + command + mark }
}

// codeSpan quotes a command with more backticks than it has in a row, which would end the span (CommonMark, section 6.1).
func codeSpan(command string) string {
	marks := "`"
	for strings.Contains(command, marks) {
		marks += "`"
	}
	if strings.HasPrefix(command, "`") || strings.HasSuffix(command, "`") {
		command = " " + command + " " // a space is taken off each end
	}
	return marks + command + marks
}

func (f tableForm) write(w io.Writer, d record.Programs) error {
	d = view.Shown(d)
	rows, unit := rowsOfTable(d), unitOfTable(d)
	text := f.start + f.row(tableHeader(unit)[:f.columns]) + f.rule
	cells := tableCells(rows, unit)
	if f.columns > hyperfines { // there is a column for the verdict
		cells = withFailed(d, cells)
	}
	for _, cells := range cells {
		cells[0] = f.quoted(cells[0])
		text += f.row(cells[:f.columns])
	}
	_, err := io.WriteString(w, text+f.end)
	return err
}

// withFailed adds a row for each command without a run that counts.
func withFailed(d record.Programs, measured [][]string) (all [][]string) {
	for _, p := range view.ProgramsInOrder(d) {
		if len(p.Counted()) > 0 {
			all, measured = append(all, measured[0]), measured[1:]
			continue
		}
		all = append(all, []string{inCell(p.Command), "?", "?", "?", "?", "?", "?", "?", string(p.Verdict)})
	}
	return all
}

// inCell returns a command without bars that would end its cell.
func inCell(command string) string { return strings.ReplaceAll(command, "|", `\|`) }

// rowsOfTable returns the commands that were measured, in the order that the user asked for.
func rowsOfTable(d record.Programs) (rows []program.Report) {
	for _, p := range view.ProgramsInOrder(d) {
		if len(p.Counted()) > 0 {
			rows = append(rows, p)
		}
	}
	return rows
}

// tableUnit is the unit of a table's times.
type tableUnit struct {
	stats.TimeUnit
	places int
}

// unitOfTable returns the unit that the user asked for; without one, the unit that suits the first command.
func unitOfTable(d record.Programs) tableUnit {
	unit := view.UnitOf(d)
	if unit == (stats.TimeUnit{}) {
		unit = stats.Millisecond
		if rows := rowsOfTable(d); len(rows) > 0 && newHyperfineResult(rows[0]).Mean >= 1 {
			unit = stats.Second
		}
	}
	if unit == stats.Second {
		return tableUnit{unit, 3}
	}
	return tableUnit{unit, 1}
}

// tableHeader returns the names of the columns: five of hyperfine's tables, of wall times, and four more.
func tableHeader(unit tableUnit) []string {
	in := " [" + unit.Name + "]"
	return []string{"Command", "Mean" + in, "Min" + in, "Max" + in, "Relative", "Alone" + in, "CPU" + in, "Waited" + in, "Verdict"}
}

// tableCells returns the rows, with the columns of tableHeader.
func tableCells(rows []program.Report, unit tableUnit) (all [][]string) {
	fastest := fastestOf(rows)
	for i, p := range rows {
		r := newHyperfineResult(p)
		all = append(all, []string{
			inCell(p.Command), plusMinus(r.Mean*1e9, 1e9*r.StdDev.Value(), unit),
			unit.of(r.Min * 1e9), unit.of(r.Max * 1e9), relativeTo(r, fastest, i == fastest.place),
			alone(p.Estimate, unit), unit.of(p.CPU.Value), unit.of(p.RunqueueWaitNs.Value()), string(p.Verdict),
		})
	}
	return all
}

// of writes a time without its unit.
func (u tableUnit) of(ns float64) string {
	if !stats.IsFinite(ns) {
		return "?"
	}
	return fmt.Sprintf("%.*f", u.places, ns/u.Ns)
}

// plusMinus writes a value and its deviation, if that is known.
func plusMinus(ns, deviationNs float64, unit tableUnit) string {
	if !stats.IsFinite(deviationNs) {
		return unit.of(ns)
	}
	return unit.of(ns) + " ± " + unit.of(deviationNs)
}

// alone writes an estimate ± half the width of its interval.
func alone(e stats.Estimate, unit tableUnit) string {
	fine := unit
	fine.places += 2 // the interval is often narrower than a tenth of a millisecond
	return plusMinus(e.Value, e.HalfWidth(), fine)
}

// fastest is the command with the least mean.
type fastest struct {
	place  int
	result hyperfineResult
}

func fastestOf(rows []program.Report) (f fastest) {
	for i, p := range rows {
		if r := newHyperfineResult(p); i == 0 || r.Mean < f.result.Mean {
			f = fastest{i, r}
		}
	}
	return f
}

// relativeTo writes how many times as long as the fastest a command takes. The deviation is that of
// a quotient of independent values, to first order.
func relativeTo(r hyperfineResult, f fastest, itself bool) string {
	ratio := r.Mean / f.result.Mean
	if itself || !r.StdDev.Known() || !f.result.StdDev.Known() {
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.2f ± %.2f", ratio, ratio*math.Hypot(r.StdDev.Value()/r.Mean, f.result.StdDev.Value()/f.result.Mean))
}
