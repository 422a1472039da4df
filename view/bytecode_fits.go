package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"chronoscope/bytecode"
	"chronoscope/bytecode/analysis"
	"chronoscope/stats"
)

// methodsAgree shows how well the methods agree with the time stamp counter, as section 5 and Table
// 8 of Lambert 2008 do.
func methodsAgree(fits []bytecode.Fit) Section {
	if len(fits) == 0 {
		return Section{}
	}
	l := analysis.Lambert
	t := table(words("tsc over", "pairing"), numbers("points", "r", "slope", "intercept", "median error", "greatest"))
	s := Section{
		Title: "How well the methods agree with the processor's counter", Table: t,
		Lead: fmt.Sprintf("On the left each instruction's time by the counter over its time by the method, with the fitted line; on the right how far it lies above that line. "+
			"Lambert and Power (2008, Table 8) found r = %.4f and a slope of %.3f.", l.PearsonR, l.Slope),
		Legend: []Key{{Mark: SeriesMark(1), Look: "s1", Text: "an instruction"}, {Line: true, Look: "s0", Text: "fitted"}},
	}
	for _, f := range fits {
		slope := fmt.Sprintf("%.4f", f.Slope)
		if f.SlopeHi.Known() {
			slope += fmt.Sprintf(" ± %.4f", f.SlopeHi.Value()-f.Slope)
		}
		t.row(strong(f.Method), f.Pairing, f.Points, fixed(f.PearsonR, 6), slope, fmt.Sprintf("%.3f ns", f.InterceptNs), share(f.MedianError), share(f.MaxError))
		if len(f.LeftOut) > 0 {
			s.Notes = append(s.Notes, labelled(string(f.Method), "%s, without what is unusable: %s", f.Pairing, listed(f.LeftOut, mostNamed)))
		}
		if len(f.Strays) > 0 {
			s.Notes = append(s.Notes, labelled(string(f.Method), "%s, above %d ns %d of %d are off by more than %s: %s", f.Pairing, bytecode.StrayAboveNs, len(f.Strays), f.Above, stats.Share(bytecode.StrayShare), listed(f.Strays, mostNamed)))
		}
		s.Charts = append(s.Charts, fitCharts(f)...)
	}
	t.row("in 2008", bytecode.Unpaired, l.Instructions, fmt.Sprintf("%.6f", l.PearsonR), fmt.Sprintf("%.3f", l.Slope), fmt.Sprintf("%.3f ns", l.InterceptNs), "", "")
	s.Notes = append(s.Notes, say("A slope above 1 says that the method reports less than the time stamp counter."))
	return s
}

// mostNamed is how many instructions are named one by one.
const mostNamed = 12

// fitCharts returns a chart of the points of a fit with its line, and one of their residuals.
func fitCharts(f bytecode.Fit) []Chart {
	var x, y, above []float64
	points, residuals := Series{Look: 1}, Series{Look: 1}
	for _, r := range f.Residuals {
		x, y, above = append(x, r.TimeNs), append(y, r.TSCNs), append(above, r.ResidualNs)
		title := fmt.Sprintf("%s, %s: %s, by the counter %s", r.Mnemonic, r.Form, duration(r.TimeNs), duration(r.TSCNs))
		points.Points = append(points.Points, XY{r.TimeNs, r.TSCNs, title})
		residuals.Points = append(residuals.Points, XY{r.TimeNs, r.ResidualNs, title})
	}
	byMethod := linear("by "+string(f.Method), Time, append(x, 0))
	from, to := byMethod.Lo, byMethod.Hi
	fitted := Series{Joined: true, Plain: true, Points: []XY{{from, f.InterceptNs + f.Slope*from, ""}, {to, f.InterceptNs + f.Slope*to, ""}}}
	level := Series{Joined: true, Plain: true, Points: []XY{{from, 0, ""}, {to, 0, ""}}}
	name := methodName(f.Method) + ", " + string(f.Pairing)
	return []Chart{
		{Title: name, Label: "Times by a method and by the counter", X: byMethod, Y: linear("by the counter", Time, append(y, 0)), Series: []Series{fitted, points}},
		{Title: name + ": residuals", Label: "How far the times lie above the line", X: byMethod, Y: linear("above the line", Time, append(above, 0)), Series: []Series{level, residuals}},
	}
}

func methodName(m bytecode.Method) string {
	switch m {
	case bytecode.Counter:
		return "A counting thread"
	case bytecode.Discrete:
		return "currentTimeMillis, summed"
	case bytecode.Bernoulli:
		return "currentTimeMillis, 0 or 1"
	case bytecode.Nano:
		return "nanoTime"
	}
	return string(m)
}

// predictions shows how well the sum of single times predicts the time of a sequence.
func predictions(all []bytecode.Prediction) Section {
	known := where(all, func(p bytecode.Prediction) bool { return p.Error.Known() })
	if len(known) == 0 {
		return Section{}
	}
	slices.SortStableFunc(known, func(a, b bytecode.Prediction) int { return cmp.Compare(a.Error.Value(), b.Error.Value()) })
	var off []float64
	var points []XY
	t := table(words("instructions"), numbers("predicted", "measured", "off"))
	t.In = OnPage
	s := Section{Table: t, Lead: "What instructions take one after the other, over the sum of what each takes among its like. On the line the prediction holds."}
	for _, p := range known {
		off = append(off, math.Abs(p.Error.Value()))
		text := fmt.Sprintf("%s: predicted %s, took %s", strings.Join(p.Instructions, ", "), p.Predicted.TimeWithError(), p.Measured.TimeWithError())
		points = append(points, XY{p.Predicted.Value, p.Measured.Value, text})
		t.row(strings.Join(p.Instructions, ", "), p.Predicted.TimeWithError(), p.Measured.TimeWithError(), signed(p.Error))
		s.Notes = append(s.Notes, Line{Label: signed(p.Error), Text: text, In: InText})
	}
	slices.Sort(off)
	s.Title = fmt.Sprintf("%s predicted from single instructions: off by %s in the median, %s at most",
		stats.Count(len(all), "sequence"), stats.Share(stats.Quantile(off, 0.5)), stats.Share(stats.Quantile(off, 1)))
	s.Heading = s.Title
	s.Charts = []Chart{equality("predicted", "measured", points)}
	return s
}

// machinesBeside compares two virtual machines, or a compiler with the interpreter.
func machinesBeside(a, b bytecode.Report) Section {
	var points []XY
	t := table(words("instruction", "form"), numbers(runName(a), runName(b)))
	for _, i := range a.Instructions {
		if j, ok := b.Instruction(i.Mnemonic, i.Form); ok && usableTime(i) && usableTime(j) {
			t.row(i.Mnemonic, i.Form, written(i.Time), written(j.Time))
			points = append(points, XY{i.Time.Value, j.Time.Value, fmt.Sprintf("%s, %s: %s and %s", i.Mnemonic, i.Form, written(i.Time), written(j.Time))})
		}
	}
	if len(points) == 0 {
		return Section{}
	}
	return Section{
		Title: runName(b) + " beside " + runName(a), In: OnPage, Lead: "The same instructions in both. On the line they take as long.",
		Charts: []Chart{equality(runName(a), runName(b), points)}, Table: t,
	}
}

func usableTime(i bytecode.InstructionReport) bool {
	return stats.IsFinite(i.Time.Value) && i.Verdict != stats.Unusable
}

// equality returns a chart of points with the line on which both values are equal.
func equality(x, y string, points []XY) Chart {
	values := []float64{0}
	for _, p := range points {
		values = append(values, p.X, p.Y)
	}
	chart := Chart{Label: y + " over " + x, X: linear(x, Time, values), Y: linear(y, Time, values)}
	same := Series{Joined: true, Plain: true, Points: []XY{{chart.X.Lo, chart.X.Lo, ""}, {chart.X.Hi, chart.X.Hi, ""}}}
	chart.Series = []Series{same, {Look: 1, Points: points}}
	return chart
}
