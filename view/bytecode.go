package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"chronoscope/bytecode"
	"chronoscope/bytecode/analysis"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(80, "bytecode", bytecodes, bytecodeFields, instructionFigures)

// bytecodes shows how long a virtual machine's instructions take: the table first, then how the
// times are distributed and grouped, then how well the methods agree.
func bytecodes(d record.Bytecode) *Sheet {
	s := sheet("What Java instructions take", d.Header)
	runs := append([]bytecode.Report{d.Report}, d.Others...)
	facts := Section{Title: "How it was measured"}
	for _, r := range runs {
		facts.Lines = append(facts.Lines, Line{Strong: runName(r) + ":", Text: strings.Join(runFacts(r), ", ")})
		s.Tiles = append(s.Tiles, Tile{
			Topic: runName(r), Figure: duration(r.Summary.MedianNs) + " a typical instruction", Verdict: r.Verdict,
			Sentence: fmt.Sprintf("Of %s, half take %s to %s.%s", stats.Count(len(r.Instructions), "form"), duration(r.Summary.Q1Ns), duration(r.Summary.Q3Ns), because(r.Reasons)),
		})
	}
	s.add(facts)
	for _, r := range runs {
		s.add(instructionKinds(r))
	}
	s.add(instructionTable(d), spread(d.Report), granularities(d.Report), groups(d.Report), largestGroups(d.Report), methodsAgree(d.Fits), predictions(d.Predictions))
	for _, other := range d.Others {
		s.add(machinesBeside(d.Report, other))
	}
	doubts := Section{Title: "What is not trusted"}
	for _, r := range runs {
		doubts.Lines = append(doubts.Lines, instructionDoubts(r)...)
	}
	s.add(doubts)
	return s
}

// runName returns a name that distinguishes a run from others.
func runName(r bytecode.Report) string {
	return "Java " + cmp.Or(r.Java.Version, "?") + ", " + cmp.Or(string(r.Mode), "?")
}

// runFacts says how a run was made.
func runFacts(r bytecode.Report) []string {
	facts := []string{
		r.Java.Name, fmt.Sprintf("sequences of %d", r.Length), stats.Count(r.Starts, "virtual machine"),
		fmt.Sprintf("%d timed and %d of them left out as slow", r.Stretches, r.Slow), "in " + duration(float64(r.Elapsed)),
	}
	if stats.IsFinite(r.Overhead.Value) {
		facts = append(facts, fmt.Sprintf("an empty trial by %s takes %s", r.Method, r.Overhead.TimeWithError()))
	}
	return facts
}

// instructionTable has a row for each instruction and form, and a column for each further run.
func instructionTable(d record.Bytecode) Section {
	t := table(words("instruction", "page:kind", "form"), numbers("by "+string(d.Method), "±"))
	beside := d.Method != bytecode.TSC // the reference is not compared with itself
	if beside {
		t.Columns = append(t.Columns, numbers("by tsc", "off")...)
	}
	for _, other := range d.Others {
		name := runName(other)
		if other.Java == d.Java {
			name = string(other.Mode)
		}
		t.Columns = append(t.Columns, numbers(name)...)
	}
	t.Columns = append(t.Columns, words("group", "verdict", "page:reasons")...)
	for _, i := range d.Instructions {
		row := []any{strong(i.Mnemonic), i.Kind, formName(i.Form), written(i.Time), instructionError(i.Time)}
		if beside {
			row = append(row, written(i.TSC), offReference(i))
		}
		for _, other := range d.Others {
			text := ""
			if j, ok := other.Instruction(i.Mnemonic, i.Form); ok && j.Verdict == stats.Unusable {
				text = stats.Unknown
			} else if ok {
				text = fixed(j.Time.Value, 3) + " ns" // compiled code may take far less than a nanosecond
			}
			row = append(row, text)
		}
		t.row(append(row, groupName(i), i.Verdict, joined(i.Reasons))...)
	}
	return Section{Title: "Every instruction", Table: t}
}

// instructionError writes half the width of the interval as a share of the value; as a time if the interval reaches to
// zero, as that of compiled code may.
func instructionError(e stats.Estimate) string {
	if e.Lo <= 0 {
		return stats.Duration(e.HalfWidth(), 2)
	}
	return plusMinus(e)
}

// formName returns the form's name, empty for the usual form.
func formName(form bytecode.Form) string {
	if form == bytecode.Homogeneous {
		return ""
	}
	return string(form)
}

// offReference writes the relative difference between a method's time and that of the time stamp
// counter.
func offReference(i bytecode.InstructionReport) string {
	if !(i.TSC.Value > 0) {
		return stats.Unknown
	}
	return signed((i.Time.Value - i.TSC.Value) / i.TSC.Value)
}

// groupName returns the name of an instruction's group, and marks outliers.
func groupName(i bytecode.InstructionReport) string {
	name := word(i.Cluster)
	if i.Outlier != nil && *i.Outlier {
		name += " (outlier)"
	}
	return name
}

// instructionKinds shows every instruction of a run, with one row for each kind.
func instructionKinds(r bytecode.Report) Section {
	var values []float64
	chart := Chart{Label: "Time of each instruction, by kind"}
	t := table(words("instruction", "kind", "form"), numbers("time", "95 % interval", "by the counter", "trials"), words("verdict", "reasons"))
	for _, kind := range distinct(r.Instructions, func(i bytecode.InstructionReport) bytecode.Kind { return i.Kind }) {
		row := Row{Name: cmp.Or(string(kind), "other")}
		for _, i := range where(r.Instructions, func(i bytecode.InstructionReport) bool { return i.Kind == kind }) {
			if i.Time.Value > 0 {
				values = append(values, i.Time.Value)
			}
			t.row(i.Mnemonic, i.Kind, i.Form, written(i.Time), i.Time.Range(), written(i.TSC), i.Trials, i.Verdict, joined(i.Reasons))
			row.Points = append(row.Points, Point{i.Time.Value, "ring", "s1", fmt.Sprintf("%s, %s: %s", i.Mnemonic, i.Form, written(i.Time)), scatter(len(row.Points))})
		}
		row.Figure = stats.Count(len(row.Points), "form")
		chart.Rows = append(chart.Rows, row)
	}
	if len(values) == 0 {
		return Section{}
	}
	chart.X = logarithmic("time of one instruction", Time, values)
	return Section{
		Title: "The instructions by kind: " + runName(r), In: OnPage,
		Lead: "A ring is an instruction in one form, measured by " + cmp.Or(string(r.Method), "no method") + "; point at it for its name. Homogeneous sequences hold nothing but the instruction; " +
			"branches are taken, or not (after Lambert and Power 2008).",
		Charts: []Chart{chart}, Table: t,
	}
}

// box returns the box plot of a distribution as a row: whiskers, box, median and mean, and the
// outliers beyond the whiskers.
func box(name string, s analysis.Summary, outliers []analysis.Timing) Row {
	row := Row{Name: name, Figure: "median " + duration(s.MedianNs)}
	row.Bars = knownSpan(s.Q1Ns, s.Q3Ns, "box", "half take ")
	row.Spans = append(knownSpan(s.LowerNs, s.Q1Ns, "thin", ""), knownSpan(s.Q3Ns, s.UpperNs, "thin", "")...)
	for _, p := range []struct {
		at         stats.Float
		mark, look string
		what       string
	}{{s.MedianNs, "bar", "s0", "median"}, {s.MeanNs, "plus", "s2", "mean"}} {
		if p.at.Known() {
			row.Points = append(row.Points, Point{At: p.at.Value(), Mark: p.mark, Look: p.look, Title: p.what + " " + duration(p.at)})
		}
	}
	for _, o := range outliers {
		row.Points = append(row.Points, Point{At: o.Ns, Mark: "ring", Look: "s1", Title: o.Name + " " + duration(o.Ns)})
	}
	return row
}

var boxKeys = []Key{{Bar: true, Look: "box", Text: "first to third quartile"}, {Mark: "bar", Look: "s0", Text: "median"}, {Mark: "plus", Look: "s2", Text: "mean"},
	{Line: true, Look: "thin", Text: "whiskers"}, {Mark: "ring", Look: "s1", Text: "outlier"}}

// boxTable returns a table for the figures of each box.
func boxTable() *Table {
	t := table(words("distribution of"), numbers("least", "first quartile", "median", "third quartile", "most", "mean"), words("outliers"))
	t.In = OnPage
	return t
}

func (t *Table) box(name string, s analysis.Summary, outliers []analysis.Timing) {
	t.row(name, duration(s.MinNs), duration(s.Q1Ns), duration(s.MedianNs), duration(s.Q3Ns), duration(s.MaxNs), duration(s.MeanNs), timings(outliers))
}

// boxChart returns a chart with one box in each row.
func boxChart(label string, rows []Row) Chart {
	c := Chart{Label: label, Rows: rows}
	c.X = linear("time of an instruction", Time, c.xs())
	return c
}

// spread shows how the times of all instructions are distributed (Figure 2 and Table 3 of Lambert
// 2008).
func spread(r bytecode.Report) Section {
	m := r.Summary
	if m.Instructions == 0 {
		return Section{}
	}
	var outliers []analysis.Timing
	for _, i := range r.Instructions {
		if i.Outlier != nil && *i.Outlier {
			outliers = append(outliers, analysis.Timing{Name: i.Mnemonic, Ns: i.Time.Value})
		}
	}
	slices.SortStableFunc(outliers, func(a, b analysis.Timing) int { return cmp.Compare(b.Ns, a.Ns) })
	name := stats.Count(m.Instructions, "instruction")
	take := "take"
	if m.Instructions == 1 {
		take = "takes"
	}
	t := boxTable()
	t.box(name, m, outliers)
	s := Section{
		Title: "How long " + name + " " + take,
		Lead: "The box reaches from the first to the third quartile. The whiskers end at the last times within 1.5 times its length; what lies beyond is an outlier. " +
			"Of a conditional branch it is the time when it does not jump. As Figure 2 of Lambert and Power (2008).",
		Legend: boxKeys, Charts: []Chart{boxChart("Distribution of the times", []Row{box(name, m, outliers)})}, Table: t,
		Lines: []Line{{Strong: name, Text: fmt.Sprintf("%s %s to %s: median %s, quartiles %s and %s, mean %s.",
			take, duration(m.MinNs), duration(m.MaxNs), duration(m.MedianNs), duration(m.Q1Ns), duration(m.Q3Ns), duration(m.MeanNs))}},
	}
	if len(outliers) > 0 {
		s.Notes = []Line{labelled("outliers", "%s", timings(outliers)), labelled("in 2008", "%s", timings(analysis.Lambert.Outliers))}
	}
	return s
}

func timings(all []analysis.Timing) string {
	var names []string
	for _, t := range all {
		names = append(names, t.Name+" "+duration(t.Ns))
	}
	return strings.Join(names, ", ")
}

// granularities shows Table 4 of Lambert 2008 for this run, next to the source's figures.
func granularities(r bytecode.Report) Section {
	t := table(words("ignoring differences up to the"), numbers("of", "makes groups", "in 2008", "groups"))
	for i, c := range r.Clusters[:min(len(r.Clusters), len(analysis.Lambert.Granularities))] {
		then := analysis.Lambert.Granularities[i]
		t.row(c.Statistic, duration(c.Ns), c.Groups, duration(then.Ns), then.Groups)
	}
	return Section{Title: "Into how many groups they fall", Lead: "As Table 4 of Lambert and Power (2008).", Table: t}
}

// groups shows the groups, and how they join (Tables 5 and 6 of Lambert 2008).
func groups(r bytecode.Report) Section {
	t := table(words("group"), numbers("least", "most", "instructions"), words("which"))
	t.In = OnPage
	s := Section{
		Table: t,
		Title: fmt.Sprintf("The instructions in %s", stats.Count(len(r.Groups), "group")),
		Lead: "Instructions of a group differ by no more than the median of all times, the dashed line. To the right of it groups join, once so great a difference is ignored " +
			"(complete linkage). As Table 5 of Lambert and Power (2008).",
	}
	for _, g := range r.Groups {
		n := len(g.Instructions)
		text := fmt.Sprintf("%d of %s to %s", n, duration(g.LeastNs), duration(g.MostNs))
		if n == 1 {
			text = "1 of " + duration(g.LeastNs)
		}
		t.row(g.Label, duration(g.LeastNs), duration(g.MostNs), n, strings.Join(g.Instructions, ", "))
		s.Notes = append(s.Notes, Line{Label: "(" + g.Label + ")", Text: text + ": " + strings.Join(g.Instructions, ", "), In: InText})
	}
	if tree, err := analysis.Cluster(r.Timings()); err == nil && r.Summary.MedianNs.Known() && len(r.Timings()) > 1 {
		s.Charts = []Chart{treeChart(r, tree.Dendrogram)}
	}
	return s
}

// treeChart draws the merges of a dendrogram above the median, from left to right. Its leaves are
// the groups, one in each row.
func treeChart(r bytecode.Report, tree stats.Dendrogram) Chart {
	from := r.Summary.MedianNs.Value()
	chart := Chart{Label: "How the groups join", Marker: &from}
	cut := tree.Cut(from)
	row, height := make([]float64, tree.Points, 2*tree.Points), make([]float64, tree.Points, 2*tree.Points)
	for i, members := range cut {
		for _, m := range members {
			row[m] = float64(i)
		}
	}
	for _, g := range r.Groups[:min(len(r.Groups), len(cut))] {
		chart.Rows = append(chart.Rows, Row{Name: g.Label + ": " + listed(g.Instructions, 2), Figure: stats.Count(len(g.Instructions), "instruction")})
	}
	end := from
	for _, m := range tree.Merges {
		if m.Height <= from {
			row, height = append(row, row[m.A]), append(height, 0)
			continue
		}
		end = math.Max(end, m.Height)
		chart.Links = append(chart.Links, Link{height[m.A], row[m.A], m.Height, row[m.A]}, Link{m.Height, row[m.A], m.Height, row[m.B]}, Link{m.Height, row[m.B], height[m.B], row[m.B]})
		row, height = append(row, (row[m.A]+row[m.B])/2), append(height, m.Height)
	}
	chart.X = linear("difference that is ignored", Time, []float64{0, math.Max(0.1, end)})
	return chart
}

// largestGroups shows the distributions of the three largest groups (Table 7 of Lambert 2008).
func largestGroups(r bytecode.Report) Section {
	all := r.Timings()
	tree, err := analysis.Cluster(all)
	if err != nil || len(all) < 2 || !r.Summary.MedianNs.Known() {
		return Section{}
	}
	var rows []Row
	t := boxTable()
	for _, g := range analysis.Largest(tree.Groups(r.Summary.MedianNs.Value()), 3) {
		s := analysis.Summarize(g.Timings)
		name, outliers := fmt.Sprintf("%s (%d)", g.Label, len(g.Timings)), s.Outliers(g.Timings)
		rows = append(rows, box(name, s, outliers))
		t.box(name, s, outliers)
	}
	return Section{
		Title: "The largest groups", In: OnPage, Legend: boxKeys,
		Lead:   "The times within the groups that have the most instructions, in brackets how many. As Table 7 of Lambert and Power (2008).",
		Charts: []Chart{boxChart("Distributions of the largest groups", rows)}, Table: t,
	}
}

// instructionDoubts says why results are not trusted, with one line for each reason.
func instructionDoubts(r bytecode.Report) []Line {
	lines := reasonLines(r.Verdict, "", r.Reasons)
	for i := range lines {
		lines[i].Strong = runName(r) + ":"
	}
	var reasons folds
	for _, i := range r.Instructions {
		for _, reason := range i.Reasons {
			reasons.add(fold{verdict: i.Verdict, mark: runName(r) + ",", text: reason}, strings.TrimSpace(i.Mnemonic+" "+formName(i.Form)))
		}
	}
	lines = append(lines, reasons.lines(-1, mostNamed)...)
	for _, u := range r.Unused {
		lines = append(lines, say("%s, %s was not used: %s", runName(r), u.Method, u.Reason))
	}
	return lines
}

// bytecodeFields returns a row for each instruction and form of all runs.
func bytecodeFields(d record.Bytecode) Fields {
	type row struct {
		Java   bytecode.Java   `json:"java"`
		Mode   bytecode.Mode   `json:"mode"`
		Method bytecode.Method `json:"method"`
		bytecode.InstructionReport
	}
	var rows []row
	for _, r := range append([]bytecode.Report{d.Report}, d.Others...) {
		for _, i := range r.Instructions {
			rows = append(rows, row{r.Java, r.Mode, r.Method, i})
		}
	}
	return fieldsOf(rows, "java.version mode method mnemonic opcode kind form time tsc trials elapsed_ns outlier cluster verdict reasons")
}

// instructionFigures returns the times of the first run's instructions.
func instructionFigures(d record.Bytecode) (all []Figure) {
	for _, i := range d.Instructions {
		all = timeFigure(all, FigureKey{TopicBytecode, i.Mnemonic + " " + string(i.Form), QuantityTime}, i.Time, i.Verdict, i.Reasons, nil)
	}
	work := unusualWork(d)
	for i := range all {
		all[i].Work = work
	}
	return all
}

// unusualWork says how the instructions were timed where that is not the default. It is empty if all of it is, so that an
// index that history made earlier still agrees. The form of an instruction is part of its figure's name.
func unusualWork(d record.Bytecode) string {
	var all []string
	if d.Length > 0 && d.Length != bytecode.DefaultLength {
		all = append(all, fmt.Sprintf("sequences of %d", d.Length))
	}
	if mode := cmp.Or(d.Mode, bytecode.Interpreter); mode != bytecode.Interpreter {
		all = append(all, "compiled by "+string(mode))
	}
	if method := cmp.Or(d.Method, bytecode.Counter); method != bytecode.Counter {
		all = append(all, "timed by "+string(method))
	}
	if d.Load > 0 {
		all = append(all, stats.Count(d.Load, "competitor"))
	}
	return strings.Join(all, ", ")
}
