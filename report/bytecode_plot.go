package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"chronoscope/bytecode"
	"chronoscope/bytecode/analysis"
	"chronoscope/record"
	"chronoscope/stats"
)

const instructionTime = "time of an instruction (ns)"

// spreadFigure is Figure 2 of Lambert 2008: the box plot of all instructions.
func spreadFigure(r record.BytecodeRun) Figure {
	p := rowsPanel(instructionTime, "")
	p.Y.Max = 0.9
	box := boxPlotter{half: 0.22, summary: r.Summary}
	for _, i := range r.Instructions {
		if i.Outlier != nil && *i.Outlier {
			box.outliers = append(box.outliers, named{i.Time.Value, i.Mnemonic})
		}
	}
	p.X.Min, p.X.Max = math.Min(0, *r.Summary.MinNs), 1.02*math.Max(*r.Summary.MaxNs, 0.1)
	p.Add(box)
	return Figure{
		Title: fmt.Sprintf("How long %s take", numbered(r.Summary.Instructions, "instruction")),
		Caption: "The box reaches from the first to the third quartile, with the median as a thick line and the mean as a cross. The whiskers end at the last times " +
			"within 1.5 times its length; what lies beyond is an outlier. Of a conditional branch it is the time when it does not jump. As Figure 2 of Lambert and Power (2008).",
		height: 170, draw: p.Draw,
	}
}

// kindsFigure shows every instruction, by kind.
func kindsFigure(r record.BytecodeRun) Figure {
	kinds := distinct(r.Instructions, func(i record.BytecodeInstruction) string { return i.Kind })
	p := rowsPanel(instructionTime, kinds...)
	longest := 0.1
	for row, kind := range kinds {
		forms := map[string]plotter.XYs{}
		for n, i := range r.Instructions {
			if i.Kind == kind && stats.Finite(i.Time.Value) != nil {
				longest = math.Max(longest, i.Time.Value)
				up := float64(n*5%9-4) / 14 // so that equal times are seen apart
				forms[i.Form] = append(forms[i.Form], plotter.XY{X: i.Time.Value, Y: float64(len(kinds)-1-row) + up})
			}
		}
		for style, form := range shownForms {
			addDots(p, forms[string(form)], style, 2)
		}
	}
	for style, form := range shownForms {
		if slices.ContainsFunc(r.Instructions, func(i record.BytecodeInstruction) bool { return i.Form == string(form) }) {
			glyph := draw.GlyphStyle{Color: seriesColors[style], Radius: 2.4, Shape: seriesShapes[style]}
			p.Legend.Add(string(form), glyphKey(glyph))
		}
	}
	dressed(p)
	p.X.Max = 1.02 * longest
	p.Legend.Left, p.Legend.Top, p.Legend.XOffs, p.Legend.YOffs = false, false, -legendInset, lineHeight
	return Figure{
		Title:   "The instructions by kind",
		Caption: "A mark is an instruction in one form; its height within the row means nothing. Homogeneous sequences hold nothing but the instruction; branches are taken, or not.",
		height:  60 + 26*vg.Length(len(kinds)), draw: p.Draw,
	}
}

// shownForms are the forms, in the order of their looks.
var shownForms = []bytecode.Form{bytecode.Homogeneous, bytecode.NotTaken, bytecode.Taken, bytecode.Pair}

// glyphKey is a mark of a legend.
type glyphKey draw.GlyphStyle

// Thumbnail draws it.
func (g glyphKey) Thumbnail(c *draw.Canvas) {
	c.DrawGlyph(draw.GlyphStyle(g), c.Center())
}

// treeFigure is Table 5 of Lambert 2008: how the groups at the median's granularity join.
func treeFigure(r record.BytecodeRun) Figure {
	tree, _ := analysis.Cluster(r.Timings()) // the document's groups come from it
	names := make([]string, len(r.Groups))
	for i, g := range r.Groups {
		names[i] = fmt.Sprintf("%s: %s (%d)", g.Label, listed(g.Instructions, 2), len(g.Instructions))
	}
	p := rowsPanel("difference that is ignored (ns)", names...)
	p.Add(treePlotter{tree.Dendrogram, *r.Summary.MedianNs})
	p.X.Max = 0.1
	if merges := tree.Dendrogram.Merges; len(merges) > 0 {
		p.X.Max = math.Max(p.X.Max, 1.03*math.Max(*r.Summary.MedianNs, merges[len(merges)-1].Height))
	}
	return Figure{
		Title: fmt.Sprintf("The instructions in %s", numbered(len(r.Groups), "group")),
		Caption: "Instructions of a group differ by no more than the median of all times, the dashed line. To the right of it groups join, once so great a difference is ignored " +
			"(complete linkage). In brackets, how many instructions a group has. As Table 5 of Lambert and Power (2008).",
		height: 50 + 19*vg.Length(max(2, len(names))), draw: p.Draw,
	}
}

// treePlotter draws the merges of a dendrogram above a height, from left to right; its
// leaves are what the others made, a row each.
type treePlotter struct {
	tree stats.Dendrogram
	from float64
}

// Plot draws it.
func (t treePlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	row := make([]float64, t.tree.Points, 2*t.tree.Points) // of each cluster
	height := make([]float64, t.tree.Points, 2*t.tree.Points)
	groups := t.tree.Cut(t.from)
	for i, members := range groups {
		for _, m := range members {
			row[m] = float64(len(groups) - 1 - i)
		}
	}
	ink := draw.LineStyle{Color: seriesColors[1], Width: 1.1}
	for _, m := range t.tree.Merges {
		if m.Height <= t.from {
			row, height = append(row, row[m.A]), append(height, 0)
			continue
		}
		c.StrokeLines(ink, []vg.Point{
			{X: x(height[m.A]), Y: y(row[m.A])}, {X: x(m.Height), Y: y(row[m.A])},
			{X: x(m.Height), Y: y(row[m.B])}, {X: x(height[m.B]), Y: y(row[m.B])},
		})
		row, height = append(row, (row[m.A]+row[m.B])/2), append(height, m.Height)
	}
	c.StrokeLine2(draw.LineStyle{Color: tickColor, Width: 0.8, Dashes: []vg.Length{4, 3}}, x(t.from), c.Min.Y, x(t.from), c.Max.Y)
}

// groupsFigure is Table 7 of Lambert 2008: the box plots of the three largest groups.
func groupsFigure(r record.BytecodeRun) Figure {
	tree, _ := analysis.Cluster(r.Timings())
	largest := analysis.Largest(tree.Groups(*r.Summary.MedianNs), 3)
	names := make([]string, len(largest))
	for i, g := range largest {
		names[i] = fmt.Sprintf("%s (%d)", g.Label, len(g.Timings))
	}
	p := rowsPanel(instructionTime, names...)
	p.X.Max = 0.1
	for i, g := range largest {
		s := analysis.Summarize(g.Timings)
		box := boxPlotter{row: float64(len(largest) - 1 - i), half: 0.28, summary: record.NewBytecodeSummary(len(g.Timings), s)}
		for _, o := range s.Outliers(g.Timings) {
			box.outliers = append(box.outliers, named{at: o.Ns})
		}
		p.X.Min, p.X.Max = math.Min(p.X.Min, s.MinNs), math.Max(p.X.Max, 1.05*s.MaxNs)
		p.Add(box)
	}
	return Figure{
		Title:   "The largest groups",
		Caption: "The times within the groups that have the most instructions, in brackets how many. As Table 7 of Lambert and Power (2008).",
		height:  60 + 42*vg.Length(len(largest)), draw: p.Draw,
	}
}

// fitFigure is Table 8 of Lambert 2008, with the residuals beside it.
func fitFigure(f record.BytecodeFit) Figure {
	scatter := newPanel("by "+f.Method+" (ns)", "by the time stamp counter (ns)")
	residuals := newPanel("by "+f.Method+" (ns)", "above the line (ns)")
	residuals.Y.Tick.Marker = plot.TickerFunc(plainTicks)
	var points, above plotter.XYs
	longest := 0.1
	for _, r := range f.Residuals {
		points = append(points, plotter.XY{X: r.TimeNs, Y: r.TSCNs})
		above = append(above, plotter.XY{X: r.TimeNs, Y: r.ResidualNs})
		longest = math.Max(longest, r.TimeNs)
		scatter.Y.Min = math.Min(scatter.Y.Min, 0)
		scatter.X.Min, residuals.X.Min = math.Min(scatter.X.Min, r.TimeNs), math.Min(residuals.X.Min, r.TimeNs)
	}
	addLine(scatter, 0, longest, f.InterceptNs, f.Slope)
	addLine(residuals, 0, longest, 0, 0)
	addDots(scatter, points, 1, 2)
	addDots(residuals, above, 1, 2)
	for _, p := range []*plot.Plot{scatter, residuals} {
		p.X.Max = 1.03 * longest
	}
	r := math.NaN()
	if f.PearsonR != nil {
		r = *f.PearsonR
	}
	return Figure{
		Title: fmt.Sprintf("%s beside the time stamp counter, %s", methodName(f.Method), f.Pairing),
		Caption: fmt.Sprintf("r = %.6f, y = %.4f x %+.3f ns, %d points. On the right, how far the points lie above the line. As Table 8 of Lambert and Power (2008), who found r = %.4f and a slope of %.3f.",
			r, f.Slope, f.InterceptNs, f.Points, analysis.Lambert.PearsonR, analysis.Lambert.Slope),
		height: 250,
		draw: func(c draw.Canvas) {
			half := (c.Max.X - c.Min.X) / 2
			scatter.Draw(draw.Crop(c, 0, -half-6, 0, 0))
			residuals.Draw(draw.Crop(c, half+6, 0, 0, 0))
		},
	}
}

// addLine adds a straight line.
func addLine(p *plot.Plot, from, to, intercept, slope float64) {
	if line, err := plotter.NewLine(plotter.XYs{{X: from, Y: intercept + slope*from}, {X: to, Y: intercept + slope*to}}); err == nil {
		line.Color, line.Width = seriesColors[2], 1
		p.Add(line)
	}
}

// methodName says what a method is.
func methodName(m string) string {
	switch bytecode.Method(m) {
	case bytecode.TSC:
		return "The time stamp counter"
	case bytecode.Counter:
		return "A counting thread"
	case bytecode.Discrete:
		return "currentTimeMillis, summed"
	case bytecode.Bernoulli:
		return "currentTimeMillis, 0 or 1"
	case bytecode.Nano:
		return "nanoTime"
	}
	return m
}

// predictionFigure compares sums of single times with what the instructions take
// together.
func predictionFigure(all []record.BytecodePrediction) Figure {
	var points plotter.XYs
	for _, p := range byPrediction(all) {
		points = append(points, plotter.XY{X: p.Predicted.Value, Y: p.Measured.Value})
	}
	return Figure{
		Title:   predictionTitle(all),
		Caption: "What instructions take one after the other, over the sum of what each takes among its like. On the dashed line the prediction holds.",
		height:  300, draw: identityPanel("predicted (ns)", "measured (ns)", points),
	}
}

// machinesFigure compares two virtual machines, or a compiler with the interpreter. It is
// false where they have no instruction in common.
func machinesFigure(a, b record.BytecodeRun) (Figure, bool) {
	var points plotter.XYs
	for _, i := range a.Instructions {
		if j, ok := b.Instruction(i.Mnemonic, i.Form); ok && stats.Finite(i.Time.Value) != nil && stats.Finite(j.Time.Value) != nil {
			points = append(points, plotter.XY{X: i.Time.Value, Y: j.Time.Value})
		}
	}
	return Figure{
		Title:   machineName(b) + " beside " + machineName(a),
		Caption: "The same instructions in both. On the dashed line they take as long.",
		height:  300, draw: identityPanel(machineName(a)+" (ns)", machineName(b)+" (ns)", points),
	}, len(points) > 0
}

// identityPanel draws points, and the line on which both are the same.
func identityPanel(x, y string, points plotter.XYs) func(draw.Canvas) {
	p := newPanel(x, y)
	end := 0.1
	for _, at := range points {
		end = math.Max(end, math.Max(at.X, at.Y))
	}
	if line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: end, Y: end}}); err == nil {
		line.Color, line.Width, line.Dashes = tickColor, 0.8, []vg.Length{4, 3}
		p.Add(line)
	}
	addDots(p, points, 1, 2)
	return func(c draw.Canvas) { p.Draw(draw.Crop(c, 0, -(c.Max.X-c.Min.X)/3, 0, 0)) }
}

// machineName tells runs apart.
func machineName(r record.BytecodeRun) string {
	return "Java " + or(r.Java.Version, "?") + ", " + or(r.Mode, "?")
}
