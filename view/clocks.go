package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"chronoscope/clock"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

var _ = register(10, "clocks", clocks,
	listing(func(d record.Clocks) []timermeter.Rating { return d.Clocks }, "name runtime api kind unit_ns accuracy cost.min_ns cost.median_ns cost.p95_ns cost.p99_ns cost.max_ns cost.family spread quality cycles.accuracy cycles.cost monotonic thread_safe stable verdict reasons counts_sleep counts_suspend"), rankingFigures)

// clocks shows a ranking of clocks.
func clocks(d record.Clocks) *Sheet {
	s := sheet("Clocks", d.Header)
	for _, p := range purposes(d.Best) {
		if c := clockNamed(d.Clocks, p.name); c != nil {
			s.Tiles = append(s.Tiles, clockTile("For "+p.purpose, *c))
		}
	}
	if len(d.Clocks) > 0 {
		s.add(trustInClocks(d.Ranking), clocksToUse(d.Ranking))
	}
	s.add(qualities(d.Ranking), costs(d.Ranking), rates(d.Ranking), unavailable(d.Ranking), runtimes(d.Ranking))
	return s
}

// purpose is a use, such as timing intervals, and the clock that is chosen for it.
type purpose struct {
	key     string // the name in its figures
	purpose string
	name    *string // the clock's name; nil if no clock is suitable
}

// purposes returns the purposes for which a clock was chosen, in the order in which they are shown.
func purposes(b timermeter.Best) []purpose {
	return []purpose{
		{"wall", "wall intervals", b.Wall}, {"cpu", "CPU time", b.CPU}, {"timestamp", "timestamps", b.Timestamp}, {"counter", "finest counter", b.Counter},
	}
}

// clockNamed returns the clock with the given name, or nil if there is none.
func clockNamed(clocks []timermeter.Rating, name *string) *timermeter.Rating {
	for i, c := range clocks {
		if name != nil && c.Name == *name {
			return &clocks[i]
		}
	}
	return nil
}

func clockTile(topic string, c timermeter.Rating) Tile {
	return Tile{
		Topic: topic, Figure: c.Name, Verdict: c.Verdict,
		Sentence: fmt.Sprintf("It moves in steps of %s, and a call takes %s. Read by %s.", written(c.Accuracy), duration(c.Cost.MedianNs), cmp.Or(c.API, "an unknown call")),
	}
}

// trustInClocks says in one line whether the recommended clocks can be trusted.
func trustInClocks(r timermeter.Ranking) Section {
	verdict, answer := stats.Verdict(""), "no, none of those measured is fit to use"
	for _, p := range purposes(r.Best) {
		switch c := clockNamed(r.Clocks, p.name); {
		case c == nil:
		case c.Verdict == stats.Trusted && verdict == "":
			verdict, answer = c.Verdict, "yes, those to use are trusted"
		case c.Verdict != stats.Trusted && (verdict == "" || c.Verdict.WorseThan(verdict)):
			verdict, answer = c.Verdict, fmt.Sprintf("with care, %s is %s for the reason below", c.Name, c.Verdict)
		}
	}
	trusted := len(where(r.Clocks, func(c timermeter.Rating) bool { return c.Verdict == stats.Trusted }))
	return Section{In: InText, Lines: []Line{{Strong: "Can I trust them?", Text: fmt.Sprintf(
		"%s (%d of %s); chronoscope fidelity holds the counter against another clock", answer, trusted, stats.Count(len(r.Clocks), "clock"))}}}
}

// clocksToUse says which clock to use for each purpose.
func clocksToUse(r timermeter.Ranking) Section {
	t := table(words("for", "use"), numbers("accuracy", "a call"), words("", "read by"))
	for _, p := range purposes(r.Best) {
		c := clockNamed(r.Clocks, p.name)
		switch {
		case c != nil:
			t.row("  "+p.purpose, strong(c.Name), written(c.Accuracy), duration(c.Cost.MedianNs), c.Verdict, c.API)
		case len(r.Clocks)+len(r.Unavailable) >= len(clock.Names()): // otherwise only some clocks were requested
			t.row("  "+p.purpose, "none is fit", "", "", "", "")
		}
	}
	return Section{Heading: "Use", In: InText, Table: t}
}

// qualities ranks the clocks by their quality.
func qualities(r timermeter.Ranking) Section {
	chart := Chart{Label: "Quality of each clock", X: Axis{Title: "quality", Unit: Shares}}
	runtime := "page:runtime"
	if len(r.Runtimes) > 0 {
		runtime = "runtime"
	}
	t := table(numbers("quality"), words(runtime, "clock", "kind"), numbers("accuracy", "±", "cost", "p99", "spread", "cycles of both"), words("verdict", "page:reasons"))
	var reasons []Line
	for _, c := range r.Clocks {
		chart.X.Hi = math.Max(chart.X.Hi, 1.05*c.Quality.Or(0))
		chart.Rows = append(chart.Rows, Row{
			Name: c.Name, Figure: percent(c.Quality),
			Bars: []Span{{0, c.Quality.Or(0), string(c.Verdict), fmt.Sprintf("%s: quality %s, %s", c.Name, percent(c.Quality), c.Verdict)}},
		})
		t.row(percent(c.Quality), c.Runtime, strings.TrimPrefix(c.Name, c.Runtime+"/"), c.Kind, written(c.Accuracy), farther(c.Accuracy),
			duration(c.Cost.MedianNs), duration(c.Cost.P99Ns), fixed(c.Spread, 3), cyclesOfBoth(c.Cycles), c.Verdict, joined(c.Reasons))
		for _, reason := range c.Reasons {
			reasons = append(reasons, Line{Verdict: c.Verdict, Strong: c.Name + ":", Text: reason, In: InText})
		}
	}
	if chart.X.Hi == 0 {
		chart.Rows = nil
	}
	return Section{
		Title: "Which clock is best",
		Lead: "Quality joins accuracy a, cost c and spread s of a clock: a^−0.1 · c^−0.1 · s^0.5, with a and c in cycles of the core " +
			"(Kuperberg, Krogmann and Reussner, ICPE 2011). Spread is the share of calls whose cost is within one accuracy of the median. " +
			"A clock that steps back, changes its rate, or disagrees between threads has quality 0.",
		Legend: verdictKeys(r.Clocks), Charts: []Chart{chart}, Table: t, Notes: reasons,
	}
}

// verdictKeys returns a key of the legend for each verdict that the bars show, if they show more than one.
func verdictKeys(clocks []timermeter.Rating) (keys []Key) {
	seen := distinct(clocks, func(c timermeter.Rating) stats.Verdict { return c.Verdict })
	for _, v := range []stats.Verdict{stats.Trusted, stats.Suspect, stats.Unusable} {
		if len(seen) > 1 && slices.Contains(seen, v) {
			keys = append(keys, Key{Bar: true, Look: string(v), Text: string(v)})
		}
	}
	return keys
}

// fixed writes a number with the given number of decimal places.
func fixed[N number](n N, places int) string {
	if x := floatOf(n); stats.IsFinite(x) {
		return fmt.Sprintf("%.*f", places, x)
	}
	return stats.Unknown
}

func cyclesOfBoth(c timermeter.Cycles) string {
	if !c.Accuracy.Known() || !c.Cost.Known() {
		return stats.Unknown
	}
	return cycleCount(c.Accuracy.Value()) + "/" + cycleCount(c.Cost.Value())
}

func cycleCount(n float64) string {
	if n >= 1e5 {
		return fmt.Sprintf("%.1e", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// costs shows the distribution of each clock's cost of a call, with its accuracy.
func costs(r timermeter.Ranking) Section {
	var all []float64
	chart := Chart{Label: "Cost of a call, and accuracy, of each clock"}
	t := table(words("clock"), numbers("least", "median", "95th percentile", "99th percentile", "most", "accuracy"), words("distribution"))
	for _, c := range r.Clocks {
		all = append(all, c.Cost.MinNs.Or(0), c.Cost.MaxNs.Or(0), c.Accuracy.Value)
		chart.Rows = append(chart.Rows, costRow(c))
		t.row(c.Name, duration(c.Cost.MinNs), duration(c.Cost.MedianNs), duration(c.Cost.P95Ns), duration(c.Cost.P99Ns), duration(c.Cost.MaxNs), written(c.Accuracy), word(c.Cost.Family))
	}
	chart.X = logarithmic("time", Time, all)
	return Section{
		Title: "What a call costs, and how fine a clock is", In: OnPage,
		Lead: "The cost of single calls: half of them lie below the median, 95 in 100 within the thick line, 99 in 100 within the thin one. " +
			"The diamond is the accuracy, the distance between two values that the clock can show: the farther to the left, the better.",
		Legend: []Key{
			{Mark: "dot", Look: "s1", Text: "median cost"}, {Line: true, Look: "thick", Text: "least to 95th percentile"},
			{Line: true, Look: "thin", Text: "to 99th"}, {Mark: "tick", Look: "faint", Text: "longest call"}, {Mark: "diamond", Look: "s2", Text: "accuracy"},
		},
		Charts: []Chart{chart}, Table: t,
	}
}

func costRow(c timermeter.Rating) Row {
	row := Row{Name: c.Name, Figure: fmt.Sprintf("%s a call, accurate to %s", duration(c.Cost.MedianNs), written(c.Accuracy))}
	row.Spans = append(knownSpan(c.Cost.MinNs, c.Cost.P99Ns, "thin", c.Name+": 99 in 100 calls, "), knownSpan(c.Cost.MinNs, c.Cost.P95Ns, "thick", c.Name+": 95 in 100 calls, ")...)
	point := func(v stats.Float, mark, look, what string) {
		if v.Value() > 0 {
			row.Points = append(row.Points, Point{At: v.Value(), Mark: mark, Look: look, Title: fmt.Sprintf("%s: %s %s", c.Name, what, durationTo(v, 4))})
		}
	}
	point(c.Cost.MaxNs, "tick", "faint", "the longest call took")
	point(stats.FloatOf(c.Accuracy.Value), "diamond", "s2", "accuracy")
	point(c.Cost.MedianNs, "dot", "s1", "median cost")
	return row
}

// rates says how fast counters run, and compares that with other sources.
func rates(r timermeter.Ranking) Section {
	t := table(words("counter", "rate by"), numbers("MHz", "±", "off"))
	for _, c := range r.Counters {
		t.row(c.Name, c.Reference, megahertz(c.RateHz.Value), farther(c.RateHz), "")
		for _, claim := range c.Claims {
			t.row("", claim.Source, megahertz(claim.Hz), "", stats.Significant(claim.PPM, 3)+" ppm")
		}
	}
	return Section{Title: "How fast the counters run", In: OnPage, Lead: "Measured against a clock of the kernel's, and beside it what others say. What they say is not used.", Table: t}
}

func megahertz(hz float64) string { return stats.Significant(hz/1e6, 10) }

// unavailable lists the clocks that can't be read here, by reason.
func unavailable(r timermeter.Ranking) Section {
	t := table(words("clock", "why it can't be read", "what helps"))
	t.In = OnPage
	s := Section{Title: "Not available here", Heading: "Unavailable", Table: t}
	var reasons folds
	for _, u := range r.Unavailable {
		t.row(u.Name, u.Reason, word(u.Remedy))
		reasons.add(fold{mark: word(u.Remedy), text: u.Reason}, u.Name)
	}
	for _, f := range reasons.order {
		s.Lines = append(s.Lines, Line{Text: "  " + strings.Join(reasons.names[f], ", "), In: InText}, Line{Text: "    " + f.text, In: InText})
		if f.mark != "" {
			s.Lines = append(s.Lines, Line{Text: "    remedy: " + f.mark, In: InText})
		}
	}
	return s
}

// runtimes says which version of each runtime was measured, and how it was warmed up.
func runtimes(r timermeter.Ranking) Section {
	s := Section{Title: "Runtimes", Heading: "Runtimes"}
	for _, runtime := range r.Runtimes {
		s.Lines = append(s.Lines, labelled(runtime.Name, "%s", runtime.Version))
		if runtime.Warmup != "" {
			s.Lines = append(s.Lines, labelled(runtime.Name, "warm-up: %s", runtime.Warmup))
		}
	}
	return s
}

// SortClocks orders clocks by "quality", "accuracy" or "cost", best first.
func SortClocks(clocks []timermeter.Rating, key string) error {
	ascending := func(by func(timermeter.Rating) float64) func(a, b timermeter.Rating) int {
		return func(a, b timermeter.Rating) int { return cmp.Compare(by(a), by(b)) }
	}
	keys := map[string]func(a, b timermeter.Rating) int{
		"quality":  timermeter.ByQuality,
		"accuracy": ascending(func(c timermeter.Rating) float64 { return orElse(c.Accuracy.Value, math.Inf(1)) }),
		"cost":     ascending(func(c timermeter.Rating) float64 { return c.Cost.MedianNs.Or(math.Inf(1)) }),
	}
	by, known := keys[key]
	if !known {
		return fmt.Errorf("clocks can't be sorted by %q: use quality, accuracy or cost", key)
	}
	slices.SortStableFunc(clocks, by)
	return nil
}

// clockFigures returns, for each clock, the best first, its quality and the values that it is
// computed from, in time and in cycles. Only cycles compare two machines fairly: 1,000 ns at 1 GHz
// are better than 700 ns at 2 GHz (Kuperberg 2011a, section 1 and 4.1).
func clockFigures(r timermeter.Ranking) (all []Figure) {
	clocks := slices.Clone(r.Clocks)
	slices.SortStableFunc(clocks, func(a, b timermeter.Rating) int { return cmp.Compare(b.Quality.Or(0), a.Quality.Or(0)) })
	for _, c := range clocks {
		of := func(quantity string) FigureKey { return FigureKey{TopicClock, c.Name, quantity} }
		add := func(quantity, better, unit string, x stats.Float) {
			all = append(all, bareFigure(of(quantity), better, unit, x, c.Verdict, c.Reasons)...)
		}
		all = append(all, qualityFigure(of("quality"), c)...)
		if stats.IsFinite(c.Accuracy.Value) {
			all = append(all, newFigure(of("accuracy"), Lower, c.Accuracy, c.Verdict, c.Reasons))
		}
		if c.LeastDisturbed != nil {
			all = append(all, newFigure(of("cost"), Lower, c.LeastDisturbed.Cost, c.Verdict, c.Reasons))
		} else {
			add("cost", Lower, "ns", c.Cost.MedianNs)
		}
		if c.Cycles.Accuracy.Known() && c.Accuracy.Value > 0 {
			inCycles := c.Accuracy.Scaled(c.Cycles.Accuracy.Value()/c.Accuracy.Value, "cycles")
			all = append(all, newFigure(of("accuracy in cycles"), Lower, inCycles, c.Verdict, c.Reasons))
		}
		add("cost in cycles", Lower, "cycles", c.Cycles.Cost)
		add("spread", Higher, "share", c.Spread)
	}
	return all
}

// bestFigures returns the qualities of the recommended clocks, which may differ between machines.
func bestFigures(r timermeter.Ranking) (all []Figure) {
	for _, best := range purposes(r.Best) {
		c := clockNamed(r.Clocks, best.name)
		if c == nil {
			continue
		}
		for _, f := range qualityFigure(FigureKey{TopicBest, best.key, "quality"}, *c) {
			f.Of = c.Name
			all = append(all, f)
		}
	}
	return all
}

// qualityFigure returns the quality of a clock where it was least disturbed, or, in records of
// versions that did not measure that, its quality.
func qualityFigure(k FigureKey, c timermeter.Rating) []Figure {
	if c.LeastDisturbed != nil && stats.IsFinite(c.LeastDisturbed.Quality.Value) {
		return []Figure{newFigure(k, Higher, c.LeastDisturbed.Quality, c.Verdict, c.Reasons)}
	}
	all := bareFigure(k, Higher, "share", c.Quality, c.Verdict, c.Reasons)
	for i := range all {
		all[i].Repeatability = QualityRepeatability
	}
	return all
}

// rankingFigures returns the figures of the recommended clocks, and of all clocks.
func rankingFigures(d record.Clocks) []Figure {
	return slices.Concat(bestFigures(d.Ranking), clockFigures(d.Ranking))
}
