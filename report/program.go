package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/record"
	"chronoscope/stats"
)

// Programs writes for people how long programs take.
func Programs(w io.Writer, d record.Programs, s Style) {
	machineLines(w, d.Header, s)
	if len(d.Results) > 1 {
		programTable(w, d.Results, s)
		programPairs(w, d.Pairs, s)
		programNotes(w, d.Results, s)
	} else {
		for _, p := range d.Results {
			programBlock(w, p, s)
		}
	}
	if d.Shell != nil {
		fmt.Fprintf(w, "The shell itself takes %s of each time: %s, median of %s.\n\n",
			known(d.Shell.Estimate), d.Shell.Command, numbered(len(d.Shell.Counted()), "run"))
	}
	caveats(w, d.Header, s)
}

// known writes a time with as many digits as are known of it.
func known(e stats.Estimate) string {
	value, _ := withError(e)
	return value
}

// WithError writes an estimate and half the width of its interval, in a few words.
func WithError(e stats.Estimate) string {
	value, off := withError(e)
	return strings.TrimSpace(value + " " + off)
}

// withError writes an estimate, and half the width of its interval, in one unit: as
// verdicts and asked precisions count it. Two digits of it are shown, and as many places of
// the value.
func withError(e stats.Estimate) (value, off string) {
	if stats.Finite(e.Value) == nil {
		return "?", ""
	}
	width := e.HalfWidth()
	if stats.Finite(width) == nil || width <= 0 || e.Value <= 0 {
		return durationTo(e.Value, 4), ""
	}
	digits := magnitude(e.Value) - magnitude(width) + 2
	value = durationTo(e.Value, min(digits, mostDigits))
	number, unit, _ := strings.Cut(value, " ")
	_, places, _ := strings.Cut(number, ".")
	return value, fmt.Sprintf("± %.*f %s", len(places), width/unitNs[unit], unit)
}

// mostDigits of a time are shown, however well it is known.
const mostDigits = 7

// magnitude is the power of ten of a number's first digit.
func magnitude(x float64) int { return int(math.Floor(math.Log10(x))) }

var unitNs = map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}

// programBlock writes all that is to be said of one command.
func programBlock(w io.Writer, p record.Program, s Style) {
	fmt.Fprintln(w, s.bold(p.Command))
	if len(p.Runs) > 0 {
		figures(w, p, s)
	}
	verdictLines(w, p, s)
	failureLines(w, p)
	outlierLines(w, p)
	fmt.Fprintln(w)
}

// figures writes what was measured.
func figures(w io.Writer, p record.Program, s Style) {
	line(w, "time", "%s alone on the machine%s", s.bold(WithError(p.Estimate)), within(p.Estimate))
	u := usageOf(p)
	line(w, "wall", "%s%s, as it was", ns(stats.Finite(p.Wall.Value)), extent(p))
	line(w, "CPU", "%s (%s): user %s, system %s", ns(stats.Finite(p.CPU.Value)), percent(ratio(p.CPU.Value, p.Wall.Value)), ns(u.user), ns(u.system))
	line(w, "waiting", "%s for a CPU, %s blocked; switches: %s involuntary, %s voluntary",
		ns(p.RunqueueWaitNs), ns(p.BlockedNs), tally(u.involuntary), tally(u.voluntary))
	line(w, "memory", "%s at most; page faults: %s, and %s with input", bytesOf(p.MaxRSSBytes), tally(u.minor), tally(u.major))
	line(w, "method", "%s: %s", p.Method, p.Explanation)
}

// labelWidth and textWidth set a block in two columns, which fit into a terminal.
const (
	labelWidth = 12
	textWidth  = 96 - labelWidth
)

// line writes a label and, in lines of a readable length, what belongs to it.
func line(w io.Writer, label, format string, args ...any) {
	for i, part := range wrap(fmt.Sprintf(format, args...), textWidth) {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(w, "  %-*s%s\n", labelWidth-2, label, part)
	}
}

// wrap breaks a text between words. What has lines of its own keeps them.
func wrap(t string, width int) []string {
	var lines []string
	for part := range strings.SplitSeq(t, "\n") {
		for wrapped := range strings.SplitSeq(text.WrapSoft(part, width), "\n") {
			lines = append(lines, strings.TrimRight(wrapped, " "))
		}
	}
	return lines
}

// within writes the interval of an estimate, and what it rests on.
func within(e stats.Estimate) string {
	runs := numbered(e.N, "run")
	if e.Discarded > 0 {
		runs += fmt.Sprintf(", %d left out", e.Discarded)
	}
	if stats.Finite(e.Lo) == nil || stats.Finite(e.Hi) == nil {
		return " (" + runs + ")"
	}
	lo, unit, _ := strings.Cut(durationTo(e.Lo, 5), " ")
	return fmt.Sprintf(" (%s to %s, %s)", lo, significant(e.Hi/unitNs[unit], 5), runs)
}

// extent writes from where to where the wall times of the runs reach.
func extent(p record.Program) string {
	runs := p.Counted()
	if len(runs) < 2 {
		return ""
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, r := range runs {
		least, most = math.Min(least, r.WallNs), math.Max(most, r.WallNs)
	}
	return fmt.Sprintf(" (%s to %s)", durationTo(least, 4), durationTo(most, 4))
}

// ratio is nil where it is not known.
func ratio(a, b float64) *float64 {
	return stats.Finite(a / b)
}

// usage is what a typical run took; nil where there is none.
type usage struct {
	user, system, voluntary, involuntary, minor, major *float64
}

// usageOf are medians over the runs that count; user and system time are parts of the CPU
// time.
func usageOf(p record.Program) usage {
	runs := p.Counted()
	median := func(of func(record.ProgramRun) float64) *float64 {
		var all []float64
		for _, r := range runs {
			all = append(all, of(r))
		}
		return stats.Finite(stats.Median(all))
	}
	// The kernel divides the CPU time by what its ticks hit: over all runs, since a short one
	// is hit once or never.
	var user, system float64
	for _, r := range runs {
		user, system = user+r.UserNs, system+r.SystemNs
	}
	return usage{
		user:        stats.Finite(p.CPU.Value * user / (user + system)),
		system:      stats.Finite(p.CPU.Value * system / (user + system)),
		voluntary:   median(func(r record.ProgramRun) float64 { return float64(r.VoluntarySwitches) }),
		involuntary: median(func(r record.ProgramRun) float64 { return float64(r.InvoluntarySwitches) }),
		minor:       median(func(r record.ProgramRun) float64 { return float64(r.MinorFaults) }),
		major:       median(func(r record.ProgramRun) float64 { return float64(r.MajorFaults) }),
	}
}

// tally writes how often something happened.
func tally(n *float64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// bytesOf writes an amount of memory with three digits.
func bytesOf(n *int64) string {
	if n == nil {
		return "?"
	}
	value, unit := float64(*n), "bytes"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 999.5 {
			break
		}
		value, unit = value/1024, next
	}
	return significant(value, 3) + " " + unit
}

// verdictLines say how far the estimate can be trusted, and why not further.
func verdictLines(w io.Writer, p record.Program, s Style) {
	if len(p.Reasons) == 0 {
		line(w, "verdict", "%s", s.verdict(p.Verdict))
		return
	}
	for i, reason := range p.Reasons {
		label := ""
		if i == 0 {
			label = "verdict"
		}
		line(w, label, "%s: %s", s.verdict(p.Verdict), reason)
	}
}

// failureLines say how a command failed.
func failureLines(w io.Writer, p record.Program) {
	if p.Failure == nil {
		return
	}
	line(w, "failed", "%s", *p.Failure)
	if p.StderrEnd != nil {
		line(w, "", "The end of its standard error:")
		for part := range strings.SplitSeq(*p.StderrEnd, "\n") {
			line(w, "", "  %s", printable(part))
		}
	}
}

// printable is what others wrote, without what would steer a terminal.
func printable(t string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, t)
}

// outlierLines name the runs apart from the others, those with the same causes together.
func outlierLines(w io.Writer, p record.Program) {
	var order []string
	runs := map[string][]int{}
	for _, o := range p.Outliers {
		causes := or(strings.Join(o.Causes, ", "), "cause not known")
		if runs[causes] == nil {
			order = append(order, causes)
		}
		runs[causes] = append(runs[causes], o.Run)
	}
	label := "outliers"
	for _, causes := range order {
		line(w, label, "%s: %s", runList(p, runs[causes]), causes)
		label = ""
	}
}

// mostListed runs are named one by one.
const mostListed = 4

// runList names runs by their numbers, counted from 1, and says how long they took.
func runList(p record.Program, runs []int) string {
	var numbers []string
	for _, run := range runs[:min(len(runs), mostListed)] {
		numbers = append(numbers, strconv.Itoa(run+1))
	}
	list := strings.Join(numbers, ", ")
	if more := len(runs) - mostListed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, run := range runs {
		least, most = math.Min(least, p.Runs[run].WallNs), math.Max(most, p.Runs[run].WallNs)
	}
	if len(runs) == 1 {
		return fmt.Sprintf("run %s (%s)", list, durationTo(least, 4))
	}
	return fmt.Sprintf("runs %s (%s to %s)", list, durationTo(least, 4), durationTo(most, 4))
}

// programTable writes a line for each command.
func programTable(w io.Writer, all []record.Program, s Style) {
	out := newTable(w, 2, 3, 4, 5, 6, 7, 8)
	out.AppendHeader(table.Row{"command", "time", "±", "wall", "CPU", "waited", "memory", "runs", "verdict"})
	for _, p := range all {
		name := strings.Join(wrap(p.Command, 28), "\n")
		value := known(p.Estimate)
		out.AppendRow(table.Row{
			name, s.bold(value), halfInterval(p.Estimate), ns(stats.Finite(p.Wall.Value)), ns(stats.Finite(p.CPU.Value)),
			ns(p.RunqueueWaitNs), bytesOf(p.MaxRSSBytes), len(p.Counted()), s.verdict(p.Verdict),
		})
	}
	out.Render()
	fmt.Fprintln(w, s.dim("time: alone on the machine; wall, CPU and waited (for a CPU): as they were"))
	fmt.Fprintln(w)
}

// programPairs says who is faster.
func programPairs(w io.Writer, all []record.Pair, s Style) {
	for _, p := range all {
		if stats.Finite(p.Ratio.Value) == nil {
			fmt.Fprintf(w, "%s: %s can't be set beside %s: the reasons below say why\n", s.bold(p.Outcome), p.B, p.A)
			continue
		}
		probability := ""
		if p.PValue != nil {
			probability = ", p = " + significant(*p.PValue, 2)
		}
		fmt.Fprintf(w, "%s: %s takes %.4g times as long as %s (95 %% interval %.4g to %.4g%s)\n",
			s.bold(p.Outcome), p.B, p.Ratio.Value, p.A, p.Ratio.Lo, p.Ratio.Hi, probability)
	}
	if len(all) > 0 {
		fmt.Fprintln(w)
	}
}

// programNotes writes below a table what the blocks of the commands would say. What is
// the same of several is said once.
func programNotes(w io.Writer, all []record.Program, s Style) {
	var methods, verdicts folds
	for _, p := range all {
		if p.Explanation != "" {
			methods.add(fold{string(p.Method), p.Explanation}, p.Command)
		}
		for _, reason := range p.Reasons {
			verdicts.add(fold{s.verdict(p.Verdict), reason}, p.Command)
		}
	}
	methods.write(w, len(all))
	verdicts.write(w, len(all))
	for _, p := range all {
		if p.Failure == nil && len(p.Outliers) == 0 {
			continue
		}
		fmt.Fprintln(w, s.bold(p.Command))
		failureLines(w, p)
		outlierLines(w, p)
		fmt.Fprintln(w)
	}
}

// A fold is what is said of some commands.
type fold struct{ mark, text string }

// folds are what is said of commands, and of which.
type folds struct {
	order []fold
	names map[fold][]string
}

func (f *folds) add(what fold, name string) {
	if f.names[what] == nil {
		f.order = append(f.order, what)
	}
	if f.names == nil {
		f.names = map[fold][]string{}
	}
	f.names[what] = append(f.names[what], name)
}

// write writes the folds; what is said of all commands names none.
func (f *folds) write(w io.Writer, commands int) {
	for _, what := range f.order {
		names := ""
		if len(f.names[what]) < commands {
			names = " " + strings.Join(f.names[what], ", ")
		}
		for i, part := range wrap(fmt.Sprintf("%s%s: %s", what.mark, names, what.text), textWidth+labelWidth-2) {
			if i > 0 {
				part = "  " + part
			}
			fmt.Fprintln(w, part)
		}
	}
	if len(f.order) > 0 {
		fmt.Fprintln(w)
	}
}

// ProgramsPOSIX writes the times of the one run in the form of time -p (IEEE Std 1003.1,
// time), in seconds.
func ProgramsPOSIX(w io.Writer, d record.Programs) error {
	for _, p := range d.Results {
		for _, r := range p.Runs {
			if _, err := fmt.Fprintf(w, "real %f\nuser %f\nsys %f\n", r.WallNs/1e9, r.UserNs/1e9, r.SystemNs/1e9); err != nil {
				return err
			}
		}
	}
	return nil
}

// ProgramsCSV writes one row a command; columns are named as the JSON fields.
func ProgramsCSV(w io.Writer, d record.Programs) error {
	out := csv.NewWriter(w)
	header := []string{"command"}
	for _, e := range []string{"estimate", "wall", "cpu"} {
		for _, field := range []string{"value", "lo", "hi", "confidence", "unit", "statistic", "n", "discarded"} {
			header = append(header, e+"."+field)
		}
	}
	out.Write(append(header, "runqueue_wait_ns", "blocked_ns", "max_rss_bytes", "method", "explanation", "failure", "verdict", "reasons"))
	for _, p := range d.Results {
		row := []string{p.Command}
		for _, e := range []stats.Estimate{p.Estimate, p.Wall, p.CPU} {
			row = append(row, number(stats.Finite(e.Value)), number(stats.Finite(e.Lo)), number(stats.Finite(e.Hi)), decimal(stats.Confidence),
				e.Unit, e.Statistic, strconv.Itoa(e.N), strconv.Itoa(e.Discarded))
		}
		row = append(row, number(p.RunqueueWaitNs), number(p.BlockedNs), whole(p.MaxRSSBytes), string(p.Method), p.Explanation,
			word(p.Failure), string(p.Verdict), strings.Join(p.Reasons, "; "))
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// whole writes a whole number, and nothing for one that is not known.
func whole(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
