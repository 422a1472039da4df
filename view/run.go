package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// mostTiles is how many results have a tile; the chart shows all.
const mostTiles = 6

var _ = register(50, "run", programs,
	programFields, programFigures)

// ProgramsInOrder returns the results in the order in which the user asked to see them.
func ProgramsInOrder(d record.Programs) []program.Report {
	if d.Sort != record.ByMeanTime {
		return d.Results
	}
	mean := func(p program.Report) float64 {
		var sum float64
		runs := p.Counted()
		for _, r := range runs {
			sum += r.WallNs
		}
		if len(runs) == 0 {
			return math.Inf(1) // it failed
		}
		return sum / float64(len(runs))
	}
	return slices.SortedStableFunc(slices.Values(d.Results), func(a, b program.Report) int { return cmp.Compare(mean(a), mean(b)) })
}

// UnitOf returns the unit in which the user asked to see the times; the zero value if they did not.
func UnitOf(d record.Programs) stats.TimeUnit {
	return map[record.TimeUnit]stats.TimeUnit{
		record.Second: stats.Second, record.Millisecond: stats.Millisecond, record.Microsecond: stats.Microsecond,
	}[d.TimeUnit]
}

// programs shows how long programs take.
func programs(d record.Programs) *Sheet {
	unit := UnitOf(d)
	d.Results = ProgramsInOrder(d)
	s := sheet(programsTitle(d.Results), d.Header)
	labels := programLabels(d.Results)
	for i, p := range d.Results[:min(len(d.Results), mostTiles)] {
		s.Tiles = append(s.Tiles, programTile(p, labels[i], unit))
	}
	if len(d.Results) == 1 {
		s.add(programInWords(d.Results[0], unit))
	}
	s.add(programTimes(d.Results, unit), programMetrics(d.Results, unit), programPercentiles(d.Results, unit), pairs(d.Pairs, pairSentences(d.Pairs)))
	if len(d.Results) > 1 {
		s.add(programNotes(d.Results, unit)...)
	}
	if d.Shell != nil {
		s.add(Section{Title: "The shell", Lines: []Line{say("The shell itself takes %s of each time: %s, median of %s.",
			unit.Time(d.Shell.Estimate), d.Shell.Command, stats.Count(len(d.Shell.Counted()), "run"))}})
	}
	return s
}

// programsTitle names what was timed, as far as a title has room.
func programsTitle(all []program.Report) string {
	if len(all) == 0 {
		return "Programs"
	}
	names := programLabels(all)
	if len(all) == 2 {
		return names[0] + " and " + names[1]
	}
	return listed(names, 1)
}

// programLabels returns short names of programs that are shown together.
func programLabels(all []program.Report) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.Command)
	}
	return Labels(names, mostName)
}

func programTile(p program.Report, label string, unit stats.TimeUnit) Tile {
	t := Tile{Topic: label, Figure: unit.Time(p.Estimate), Verdict: p.Verdict}
	if p.Failure != nil {
		t.Sentence = "It failed: " + *p.Failure + "."
		return t
	}
	t.Sentence = fmt.Sprintf("Alone on the machine%s; by the clock it took %s, and %s of CPU time.%s", within(p.Estimate, unit), unit.Duration(p.Wall.Value, 3), unit.Duration(p.CPU.Value, 3), because(p.Reasons))
	return t
}

// within writes the interval of an estimate, and its number of runs.
func within(e stats.Estimate, unit stats.TimeUnit) string {
	runs := stats.Count(e.N, "run")
	if e.Discarded > 0 {
		runs += fmt.Sprintf(", %d left out", e.Discarded)
	}
	if bounds := unit.Range(e); bounds != stats.Unknown {
		runs = bounds + ", " + runs
	}
	return " (" + runs + ")"
}

// programInWords writes all that is shown of one command.
func programInWords(p program.Report, unit stats.TimeUnit) Section {
	s := Section{Title: "In words", Heading: p.Command}
	if len(p.Counted()) > 0 || len(p.Runs) > 0 && p.Failure == nil {
		u := usageOf(p)
		s.Lines = append(s.Lines,
			Line{Label: "time", Strong: unit.TimeWithError(p.Estimate), Text: "alone on the machine" + within(p.Estimate, unit)})
		if idle := p.Idle; idle != nil && math.Abs(idle.Value-p.Estimate.Value) > p.Estimate.HalfWidth() {
			s.Lines = append(s.Lines, labelled("idle", "%s on this machine while no other program runs: its interrupts take %s", unit.TimeWithError(*idle), stats.Percent(1-p.Estimate.Value/idle.Value)))
		}
		s.Lines = append(s.Lines,
			labelled("wall", "%s%s, as it was", unit.Duration(p.Wall.Value, 3), extent(p, unit)),
			labelled("CPU", "%s (%s): user %s, system %s", unit.Duration(p.CPU.Value, 3), stats.Percent(p.CPU.Value/p.Wall.Value), unit.Duration(u.user, 3), unit.Duration(u.system, 3)),
			labelled("waiting", "%s for a CPU, %s blocked; switches: %s involuntary, %s voluntary",
				unit.Duration(p.RunqueueWaitNs.Value(), 3), unit.Duration(p.BlockedNs.Value(), 3), tally(u.involuntary), tally(u.voluntary)),
			labelled("memory", "%s at most; page faults: %s minor, %s major", size(p.MaxRSSBytes), tally(u.minor), tally(u.major)),
			labelled("method", "%s: %s", p.Method, p.Explanation))
		s.Lines = append(s.Lines, percentileLines(p, unit)...)
	}
	if len(p.Reasons) == 0 {
		s.Lines = append(s.Lines, Line{Label: "verdict", Verdict: p.Verdict})
	}
	s.Lines = append(s.Lines, reasonLines(p.Verdict, "verdict", p.Reasons)...)
	s.Lines = append(s.Lines, failureLines(p)...)
	s.Lines = append(s.Lines, outlierLines(p, unit)...)
	return s
}

// extent writes the range of the wall times of the runs.
func extent(p program.Report, unit stats.TimeUnit) string {
	runs := p.Counted()
	if len(runs) < 2 {
		return ""
	}
	return " (" + wallRange(runs, unit) + ")"
}

// wallRange writes the range of the wall times of some runs, in one unit.
func wallRange(runs []program.RunReport, unit stats.TimeUnit) string {
	least, most := math.Inf(1), math.Inf(-1)
	for _, r := range runs {
		least, most = math.Min(least, r.WallNs), math.Max(most, r.WallNs)
	}
	if least == most {
		return unit.Duration(least, 4)
	}
	return unit.Range(stats.Estimate{Value: (least + most) / 2, Lo: least, Hi: most})
}

// usage holds medians of what a run took; NaN for what is not known.
type usage struct {
	user, system, voluntary, involuntary, minor, major float64
}

// usageOf returns medians over the runs that count. User and system time are parts of the CPU time.
func usageOf(p program.Report) usage {
	runs := p.Counted()
	median := func(of func(program.RunReport) *int64) float64 {
		var all []float64
		for _, r := range runs {
			if n := of(r); n != nil {
				all = append(all, float64(*n))
			}
		}
		return stats.Median(all)
	}
	// The kernel splits CPU time into user and system time by the mode that each of its ticks
	// interrupts. A tick hits a short run once or never, so the sums over all runs are used.
	var user, system float64
	for _, r := range runs {
		user, system = user+r.UserNs, system+r.SystemNs
	}
	return usage{
		user:        p.CPU.Value * user / (user + system),
		system:      p.CPU.Value * system / (user + system),
		voluntary:   median(func(r program.RunReport) *int64 { return r.VoluntarySwitches }),
		involuntary: median(func(r program.RunReport) *int64 { return r.InvoluntarySwitches }),
		minor:       median(func(r program.RunReport) *int64 { return r.MinorFaults }),
		major:       median(func(r program.RunReport) *int64 { return r.MajorFaults }),
	}
}

// tally writes how often something happened, on average.
func tally(n float64) string {
	if !stats.IsFinite(n) {
		return stats.Unknown
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// failureLines says how a command failed, unless a reason of its verdict already does, and shows the
// end of its standard error.
func failureLines(p program.Report) (lines []Line) {
	if p.Failure == nil {
		return nil
	}
	how := *p.Failure
	if _, detail, ok := strings.Cut(how, ": "); ok {
		how = detail
	}
	if !slices.ContainsFunc(p.Reasons, func(reason string) bool { return strings.Contains(reason, how) }) {
		lines = append(lines, Line{Label: "failed", Text: *p.Failure})
	}
	if p.StderrEnd != nil {
		lines = append(lines, Line{Label: "failed", Text: "The end of its standard error:"})
		for part := range strings.SplitSeq(*p.StderrEnd, "\n") {
			lines = append(lines, Line{Label: "failed", Text: "  " + part})
		}
	}
	return lines
}

// outlierLines names the outliers among the runs, those with the same causes together.
func outlierLines(p program.Report, unit stats.TimeUnit) (lines []Line) {
	causesOf := func(o program.Outlier) string { return cmp.Or(strings.Join(o.Causes, ", "), "cause not known") }
	known := where(p.Outliers, func(o program.Outlier) bool { return o.Run >= 0 && o.Run < len(p.Runs) })
	for _, causes := range distinct(known, causesOf) {
		runs := where(known, func(o program.Outlier) bool { return causesOf(o) == causes })
		lines = append(lines, labelled("outliers", "%s: %s", runList(p, runs, unit), causes))
	}
	return lines
}

// mostListed is how many runs or names are listed one by one.
const mostListed = 4

// runList lists runs by their numbers, counted from 1, and says how long they took.
func runList(p program.Report, outliers []program.Outlier, unit stats.TimeUnit) string {
	var places []string
	var runs []program.RunReport
	for _, o := range outliers {
		places = append(places, strconv.Itoa(o.Run+1))
		runs = append(runs, p.Runs[o.Run])
	}
	noun := "runs"
	if len(runs) == 1 {
		noun = "run"
	}
	return fmt.Sprintf("%s %s (%s)", noun, listed(places, mostListed), wallRange(runs, unit))
}

// programTimes shows the runs of each command as points, with the estimate below them.
func programTimes(all []program.Report, unit stats.TimeUnit) Section {
	if len(all) == 0 {
		return Section{}
	}
	var values []float64
	for _, p := range all {
		values = append(values, p.Estimate.Lo, p.Estimate.Hi, p.Estimate.Value)
		for _, r := range p.Runs {
			values = append(values, r.WallNs)
		}
	}
	chart := Chart{Label: "Runs of each command, and its time alone on the machine", X: suited("time", Time, values)}
	t := table(words("command"), numbers("time", "text:±", "page:95 % interval", "wall", "CPU", "waited", "page:blocked", "memory", "runs"), words("verdict", "page:reasons"))
	for _, p := range all {
		chart.Rows = append(chart.Rows, programRow(p, unit))
		t.row(p.Command, strong(unit.Time(p.Estimate)), plusMinus(p.Estimate), unit.Range(p.Estimate), unit.Duration(p.Wall.Value, 3), unit.Duration(p.CPU.Value, 3),
			unit.Duration(p.RunqueueWaitNs.Value(), 3), unit.Duration(p.BlockedNs.Value(), 3), size(p.MaxRSSBytes), len(p.Counted()), p.Verdict, joined(p.Reasons))
	}
	s := Section{
		Title: "How long the programs take",
		Lead: "A ring is one run by the clock, as it was, and a cross one that does not count. The diamond is the time on a machine of its own, " +
			"and the thick line its 95 % interval: what others took of the CPUs is taken off.",
		Legend: append([]Key{{Mark: "ring", Look: "s0", Text: "a run, by the clock"}, {Mark: "cross", Look: "faint", Text: "does not count"}}, intervalKeys("alone on the machine")...),
		Charts: []Chart{chart},
		Table:  t,
	}
	if len(all) == 1 {
		t.In = OnPage // text has lines for this
		return s
	}
	s.Notes = []Line{{Text: "time: alone on the machine; wall, CPU and waited (for a CPU): as they were", In: InText}}
	return s
}

// overlapping is the number of runs above which their marks are drawn translucent.
const overlapping = 60

func programRow(p program.Report, unit stats.TimeUnit) Row {
	row := Row{Name: p.Command, Figure: unit.TimeWithError(p.Estimate)}
	usual := "s0"
	if len(p.Runs) > overlapping {
		usual += " overlapping"
	}
	for i, r := range p.Runs {
		mark, look, title := "ring", usual, fmt.Sprintf("run %d: %s by the clock", i+1, unit.Duration(r.WallNs, 5))
		if r.Rejected {
			mark, look = "cross", "faint"
		}
		if r.Why != nil {
			title += ", " + *r.Why
		}
		row.Points = append(row.Points, Point{r.WallNs, mark, look, title, 4 + math.Abs(scatter(i))})
	}
	spans, estimate := interval(p.Estimate)
	row.Spans, row.Points = spans, append(row.Points, estimate...) // drawn over the runs, which may be many
	return row
}

// programNotes returns the remarks below the table of several commands. A remark that applies to
// several commands, or differs only in its figures, is written once.
func programNotes(all []program.Report, unit stats.TimeUnit) (sections []Section) {
	var methods, verdicts folds
	var texts []string
	for _, p := range all {
		texts = append(append(texts, p.Explanation), p.Reasons...)
	}
	said := ranged(texts)
	for _, p := range all {
		if p.Explanation != "" {
			methods.add(fold{mark: string(p.Method), text: said[p.Explanation]}, p.Command)
		}
		for _, reason := range p.Reasons {
			verdicts.add(fold{verdict: p.Verdict, text: said[reason]}, p.Command)
		}
	}
	sections = append(sections,
		Section{Title: "How they were measured", Lines: methods.lines(len(all), len(all))},
		Section{Title: "What is not trusted", Lines: verdicts.lines(len(all), len(all))})
	labels := programLabels(all)
	for i, p := range all {
		if p.Failure != nil || len(p.Outliers) > 0 {
			sections = append(sections, Section{Title: labels[i], Heading: p.Command, Lines: append(failureLines(p), outlierLines(p, unit)...)})
		}
	}
	return sections
}

// ProgramsPOSIX writes the times of a single run in the form of time -p (IEEE Std 1003.1, time), in
// seconds.
func ProgramsPOSIX(d record.Programs) string {
	var b strings.Builder
	for _, p := range d.Results {
		for _, r := range p.Runs {
			fmt.Fprintf(&b, "real %f\nuser %f\nsys %f\n", r.WallNs/1e9, r.UserNs/1e9, r.SystemNs/1e9)
		}
	}
	return b.String()
}

// programFigures returns the times of each command.
func programFigures(d record.Programs) (all []Figure) {
	for _, p := range d.Results {
		var alone, wall []float64
		for _, r := range p.Counted() {
			wall = append(wall, r.WallNs)
			if r.LowNs.Known() && r.HighNs.Known() {
				alone = append(alone, (r.LowNs.Value()+r.HighNs.Value())/2)
			}
		}
		name := programName(p)
		all = timeFigure(all, FigureKey{TopicProgram, name, QuantityTime}, p.Estimate, p.Verdict, p.Reasons, alone)
		all = timeFigure(all, FigureKey{TopicProgram, name, QuantityWall}, p.Wall, p.Verdict, p.Reasons, wall)
		all = timeFigure(all, FigureKey{TopicProgram, name, QuantityCPU}, p.CPU, p.Verdict, p.Reasons, nil)
		all = append(all, metricFigures(name, p)...)
	}
	return all
}

// programName returns a command with its parameters.
func programName(p program.Report) string {
	var parameters []string
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		parameters = append(parameters, name+"="+p.Parameters[name])
	}
	if len(parameters) == 0 {
		return p.Command
	}
	return fmt.Sprintf("%s (%s)", p.Command, strings.Join(parameters, ", "))
}
