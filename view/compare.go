package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"chronoscope/record"
	"chronoscope/stats"
)

// fewSubjects is the largest number of subjects that have a column each. For more subjects, text
// shows only how their values are spread.
const fewSubjects = 6

var _ = register(100, "compare", comparison, comparisonFields, nil)

func comparison(d record.Comparison) *Sheet {
	s := sheet(strings.Join(d.Subjects, " beside "), d.Header)
	s.WithoutHead, s.Facts = true, nil
	for i, o := range d.Origins[:min(len(d.Origins), len(d.Subjects))] {
		s.Facts = append(s.Facts, d.Subjects[i]+": "+machineOf(o)+o.Started.Format(", 2 January 2006"))
	}
	d.Rows = where(d.Rows, func(r record.ComparisonRow) bool {
		return len(r.Values) == len(d.Subjects) && len(r.Changes) == len(d.Subjects)-1 // true for each document that was read
	})
	for i := range min(len(d.Subjects)-1, mostTiles) {
		s.Tiles = append(s.Tiles, comparisonTile(d, i))
	}
	s.add(comparedSubjects(d))
	var alone []string
	for _, topic := range distinct(d.Rows, func(r record.ComparisonRow) string { return r.Topic }) {
		rows := where(d.Rows, func(r record.ComparisonRow) bool { return r.Topic == topic })
		switch {
		case !shared(rows):
			alone = append(alone, topic)
		case len(d.Subjects) > fewSubjects:
			s.add(spreadOfSubjects(topic, rows))
		case topic == TopicClock:
			s.add(clockTables(d, rows)...)
		default:
			s.add(comparisonTable(d, topic, rows))
		}
	}
	if len(alone) > 0 {
		s.add(Section{In: InText, Lines: []Line{say("Known of one alone, and left out here: %s.", strings.Join(alone, ", "))}})
	}
	s.add(comparisonReasons(d))
	for _, quantity := range distinct(d.Rows, func(r record.ComparisonRow) string { return r.Topic + ", " + r.Quantity }) {
		s.add(comparisonChart(d, quantity))
	}
	return s
}

// mostChanges is how many changes a tile names.
const mostChanges = 3

// comparisonTile says how a subject differs from the first: how many of its figures have which
// outcome, and which have changed. The tile's verdict is the worst of these figures.
func comparisonTile(d record.Comparison, change int) Tile {
	labels := Labels(d.Subjects, mostName)
	t := Tile{Topic: labels[change+1] + " against " + labels[0], Figure: "nothing in both"}
	counts := map[string]int{}
	var outcomes, changed []string
	for _, r := range d.Rows {
		c := r.Changes[change]
		if c == nil {
			continue
		}
		if counts[c.Outcome]++; counts[c.Outcome] == 1 {
			outcomes = append(outcomes, c.Outcome)
		}
		if slices.Contains([]string{"faster", "slower", "better", "worse"}, c.Outcome) {
			changed = append(changed, fmt.Sprintf("%s of %s is %s", r.Quantity, Shortened(r.Name, mostName), c.Outcome))
		}
		for _, v := range []*record.ComparisonValue{r.Values[0], r.Values[change+1]} {
			if v != nil && v.Verdict != "" && (t.Verdict == "" || v.Verdict.WorseThan(t.Verdict)) {
				t.Verdict = v.Verdict
			}
		}
	}
	if len(outcomes) == 0 {
		return t
	}
	slices.SortStableFunc(outcomes, func(a, b string) int { return counts[b] - counts[a] })
	for i, outcome := range outcomes {
		outcomes[i] = fmt.Sprintf("%d %s", counts[outcome], outcome)
	}
	t.Figure = strings.Join(outcomes, ", ")
	t.Sentence = "No figure is clearly better or worse."
	if len(changed) > 0 {
		t.Sentence = capitalized(listed(changed, mostChanges)) + "."
	}
	return t
}

// machineOf names a subject's machine.
func machineOf(o record.Origin) string {
	if o.Machine == nil || o.Machine.CPU == "" {
		return "a machine that is not known"
	}
	if o.Machine.CoreHz == nil {
		return string(o.Machine.CPU)
	}
	return fmt.Sprintf("%s at %.2f GHz", o.Machine.CPU, *o.Machine.CoreHz/1e9)
}

func comparedSubjects(d record.Comparison) Section {
	t := table(words("subject", "command", "machine", "started", ""))
	for i, o := range d.Origins[:min(len(d.Origins), len(d.Subjects), fewSubjects)] {
		what := ""
		if i == 0 {
			what = "against this one"
		}
		t.row(strong(d.Subjects[i]), commandName(o.Command), machineOf(o), o.Started.UTC().Format("2006-01-02"), what)
	}
	s := Section{In: InText, Table: t}
	if more := len(d.Origins) - fewSubjects; more > 0 {
		s.Notes = []Line{say("and %d more", more)}
	}
	return s
}

// shared reports whether two or more subjects have a value in any of the rows.
func shared(rows []record.ComparisonRow) bool {
	first := -1
	for _, r := range rows {
		for i, v := range r.Values {
			switch {
			case v == nil || i == first:
			case first < 0:
				first = i
			default:
				return true
			}
		}
	}
	return false
}

// clockRows holds the rows of one clock, by their quantity.
type clockRows struct {
	name string
	by   map[string]record.ComparisonRow
}

// value returns the value of a subject, nil if it has none.
func (c clockRows) value(quantity string, subject int) *record.ComparisonValue {
	if r, ok := c.by[quantity]; ok {
		return r.Values[subject]
	}
	return nil
}

// quality returns the quality of a subject's clock, -1 if it has none.
func (c clockRows) quality(subject int) float64 {
	if v := c.value("quality", subject); v != nil {
		return v.Estimate.Value
	}
	return -1
}

// clockTables compares the clocks of two subjects at a time, as Tables 1 and 2 of Kuperberg 2011a
// do, and then the qualities of all subjects.
func clockTables(d record.Comparison, rows []record.ComparisonRow) (sections []Section) {
	var clocks []clockRows
	for _, name := range distinct(rows, func(r record.ComparisonRow) string { return r.Name }) {
		c := clockRows{name, map[string]record.ComparisonRow{}}
		for _, r := range rows {
			if r.Name == name {
				c.by[r.Quantity] = r
			}
		}
		clocks = append(clocks, c)
	}
	for first := 0; first < len(d.Subjects); first += 2 {
		sections = append(sections, clockPair(d, clocks, first, min(first+2, len(d.Subjects))))
	}
	return append(sections, qualityTable(d, clocks))
}

// clockPair shows, for the subjects from..to-1, the values from which the qualities of clocks are
// computed. The best clock of subject from comes first.
func clockPair(d record.Comparison, clocks []clockRows, from, to int) Section {
	t := table(words("clock"))
	for _, name := range d.Subjects[from:to] {
		t.Columns = append(t.Columns, numbers("accuracy "+name, "cost", "cycles of both", "spread", "quality")...)
	}
	sorted := slices.SortedStableFunc(slices.Values(clocks), func(a, b clockRows) int { return cmp.Compare(b.quality(from), a.quality(from)) })
	for _, c := range sorted {
		row, there := []any{clockLabel(c.name)}, false
		for i := from; i < to; i++ {
			there = there || c.value("quality", i) != nil || c.value("cost", i) != nil
			cycles, spread := "-", "-"
			if a, b := c.value("accuracy in cycles", i), c.value("cost in cycles", i); a != nil && b != nil {
				cycles = stats.Significant(a.Estimate.Value, 3) + " + " + stats.Significant(b.Estimate.Value, 3)
			}
			if v := c.value("spread", i); v != nil {
				spread = fmt.Sprintf("%.3f", v.Estimate.Value)
			}
			row = append(row, valueOf(c.value("accuracy", i)), valueOf(c.value("cost", i)), cycles, spread, marked(c.value("quality", i)))
		}
		if there {
			t.row(row...)
		}
	}
	return Section{In: InText, Table: t}
}

// clockLabel returns a clock's name, together with its name in the published tables.
func clockLabel(name string) string {
	for _, t := range record.PublishedTimers {
		if t.Clock == name {
			return fmt.Sprintf("%s (%s)", name, t.Short)
		}
	}
	return name
}

// qualityTable shows the quality and the rank of each clock in all subjects, and what changed.
func qualityTable(d record.Comparison, clocks []clockRows) Section {
	t := table(words("quality (rank)"), numbers(d.Subjects...), words("outcome", "rank"))
	for _, c := range clocks {
		quality, ok := c.by["quality"]
		if !ok {
			continue
		}
		row := []any{clockLabel(c.name)}
		for i := range d.Subjects {
			text := marked(quality.Values[i])
			if rank := c.value("rank", i); rank != nil {
				text += fmt.Sprintf(" (%.0f)", rank.Estimate.Value)
			}
			row = append(row, text)
		}
		moved := ""
		if r, ok := c.by["rank"]; ok && r.Outcome != "same" && len(r.Changes) > 0 && r.Changes[len(r.Changes)-1] != nil {
			moved = joined(r.Changes[len(r.Changes)-1].Reasons)
		}
		t.row(append(row, quality.Outcome, moved)...)
	}
	return Section{In: InText, Table: t}
}

// comparisonTable has the rows of a topic; for two subjects it includes the ratio.
func comparisonTable(d record.Comparison, topic string, rows []record.ComparisonRow) Section {
	t := table(words(topic, "quantity"), numbers(d.Subjects...))
	if len(d.Subjects) == 2 {
		t.Columns = append(t.Columns, append(numbers("ratio", "95 % interval", "p"), words("outcome")...)...)
	}
	for _, r := range rows {
		row := []any{r.Name, r.Quantity}
		for i, v := range r.Values {
			row = append(row, valueBeside(v, r, i, len(d.Subjects)))
		}
		if len(d.Subjects) == 2 {
			row = append(row, changeCells(r.Changes[0])...)
		}
		t.row(row...)
	}
	return Section{In: InText, Table: t}
}

// valueBeside writes a value. If more than two subjects are compared, it adds the ratio to the first subject's value,
// and the outcome.
func valueBeside(v *record.ComparisonValue, r record.ComparisonRow, i, subjects int) string {
	text := marked(v)
	if v != nil && v.Of != "" {
		text = v.Of + " " + text
	}
	if subjects > 2 && i > 0 && r.Changes[i-1] != nil && stats.IsFinite(r.Changes[i-1].Ratio.Value) {
		text += fmt.Sprintf(" (x%.3f %s)", r.Changes[i-1].Ratio.Value, r.Changes[i-1].Outcome)
	}
	return text
}

// changeCells returns the ratio, interval, probability and outcome of a change.
func changeCells(c *record.ComparisonChange) []any {
	if c == nil {
		return []any{"-", "-", "-", ""}
	}
	ratio, bounds, p := "-", "-", "-"
	if stats.IsFinite(c.Ratio.Value) {
		ratio = fmt.Sprintf("%.4f", c.Ratio.Value)
	}
	if stats.IsFinite(c.Ratio.Lo) && stats.IsFinite(c.Ratio.Hi) {
		bounds = fmt.Sprintf("%.4f to %.4f", c.Ratio.Lo, c.Ratio.Hi)
	}
	if c.PValue.Known() {
		p = probability(c.PValue)
	}
	return []any{ratio, bounds, p, strong(c.Outcome)}
}

// spreadOfSubjects shows, for many subjects, the first and the last, and how the others are spread.
func spreadOfSubjects(topic string, rows []record.ComparisonRow) Section {
	t := table(words(topic, "quantity"), numbers("known of", "first", "least", "median", "most", "last", "last/first"), words("outcome"))
	for _, r := range rows {
		var values []float64
		for _, v := range r.Values {
			if v != nil && stats.IsFinite(v.Estimate.Value) {
				values = append(values, v.Estimate.Value)
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		last := "-"
		if r.Change != nil {
			last = fmt.Sprintf("%.4f", r.Change.Value)
		}
		t.row(r.Name, r.Quantity, len(values), marked(r.Values[0]), inUnit(values[0], r.Unit), inUnit(stats.Quantile(values, 0.5), r.Unit),
			inUnit(values[len(values)-1], r.Unit), marked(r.Values[len(r.Values)-1]), last, strong(r.Outcome))
	}
	return Section{In: InText, Table: t}
}

// marks are written after a value that is not trusted.
var marks = map[stats.Verdict]string{stats.Suspect: " *", stats.Unusable: " **"}

func marked(v *record.ComparisonValue) string {
	if v == nil {
		return "-"
	}
	return valueOf(v) + marks[v.Verdict]
}

// valueOf writes a value in a suitable unit.
func valueOf(v *record.ComparisonValue) string {
	if v == nil {
		return "-"
	}
	return inUnit(v.Estimate.Value, v.Estimate.Unit)
}

func inUnit(x float64, unit string) string {
	switch {
	case !stats.IsFinite(x):
		return stats.Unknown
	case unit == "ns":
		return stats.Duration(x, 4)
	case unit == "share" && (x == 0 || math.Abs(x) >= 0.01):
		return fmt.Sprintf("%.2f %%", 100*x)
	case unit == "share":
		return stats.Share(x)
	case unit == "rank":
		return fmt.Sprintf("%.0f", x)
	}
	return stats.Significant(x, 4) + " " + unit
}

// comparisonReasons explains the marks, and says what could not be compared.
func comparisonReasons(d record.Comparison) Section {
	var said folds
	once := func(what fold, name string) {
		if !slices.Contains(said.names[what], name) {
			said.add(what, name)
		}
	}
	for _, r := range d.Rows {
		for i, v := range r.Values {
			if v == nil {
				continue
			}
			for _, reason := range v.Reasons {
				once(fold{mark: strings.TrimSpace(marks[v.Verdict]), text: reason}, d.Subjects[i]+" "+r.Name)
			}
		}
		for i, c := range r.Changes {
			if c == nil || r.Quantity == "rank" {
				continue
			}
			for _, reason := range c.Reasons {
				once(fold{mark: c.Outcome, text: reason}, d.Subjects[i+1]+" "+r.Name)
			}
		}
	}
	return Section{In: InText, Lines: said.lines(-1, mostListed)}
}

// comparisonChart shows the rows of one topic and quantity, each subject's figure as a share of the
// first subject's.
func comparisonChart(d record.Comparison, quantity string) Section {
	same := 1.0
	values := []float64{same}
	chart := Chart{Label: quantity, Marker: &same}
	t := table(words("name"), numbers(d.Subjects...), words("outcome", "reasons"))
	for _, r := range d.Rows {
		if r.Topic+", "+r.Quantity != quantity {
			continue
		}
		row, reasons := Row{Name: r.Name}, []string{}
		if len(d.Subjects) == 2 {
			row.Figure = r.Outcome
		}
		for i, c := range r.Changes {
			if c == nil || i+1 >= len(d.Subjects) {
				continue
			}
			reasons = append(reasons, c.Reasons...)
			if c.Ratio.Unit != "ratio" || !(c.Ratio.Value > 0) {
				continue // for ranks it is a difference, not a ratio
			}
			_, bounds := ratio(c.Ratio)
			values = append(values, c.Ratio.Value, c.Ratio.Lo, c.Ratio.Hi)
			row.Points = append(row.Points, Point{At: c.Ratio.Value, Mark: SeriesMark(i), Look: SeriesLook(i), Title: fmt.Sprintf("%s: %.4g times, %s", d.Subjects[i+1], c.Ratio.Value, c.Outcome)})
			if c.Ratio.Lo > 0 && stats.IsFinite(c.Ratio.Hi) {
				row.Spans = append(row.Spans, Span{c.Ratio.Lo, c.Ratio.Hi, "thin", bounds})
			}
		}
		if len(row.Points) > 0 {
			chart.Rows = append(chart.Rows, row)
		}
		cells := []any{r.Name}
		for _, v := range r.Values {
			text := ""
			if v != nil {
				text = inUnit(v.Estimate.Value, r.Unit)
				if v.Of != "" {
					text = v.Of + ", " + text
				}
			}
			cells = append(cells, text)
		}
		t.row(append(cells, r.Outcome, joined(reasons))...)
	}
	s := Section{Title: capitalized(quantity), In: OnPage, Table: t}
	if len(chart.Rows) > 0 {
		s.Lead = "A mark is a figure over that of " + d.Subjects[0] + ", and the line its 95 % interval, where it is known."
		chart.X = logarithmic("times that of "+Shortened(d.Subjects[0], mostName), Plain, values)
		s.Charts = []Chart{chart}
		for i, name := range d.Subjects[1:] {
			s.Legend = append(s.Legend, Key{Mark: SeriesMark(i), Look: SeriesLook(i), Text: name})
		}
	}
	return s
}

// comparisonFields returns a row for each subject of each row.
func comparisonFields(d record.Comparison) Fields {
	type row struct {
		Topic    string `json:"topic"`
		Name     string `json:"name"`
		Quantity string `json:"quantity"`
		Unit     string `json:"unit"`
		Better   string `json:"better"`
		Subject  string `json:"subject"`
		*record.ComparisonValue
		Ratio   stats.Estimate `json:"ratio"`
		PValue  stats.Float    `json:"p_value"`
		Outcome string         `json:"outcome"`
	}
	var rows []row
	none := stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	for _, r := range d.Rows {
		for i, v := range r.Values {
			if v == nil {
				continue
			}
			one := row{Topic: r.Topic, Name: r.Name, Quantity: r.Quantity, Unit: v.Estimate.Unit, Better: r.Better, Subject: d.Subjects[i], ComparisonValue: v, Ratio: none}
			if i > 0 && r.Changes[i-1] != nil {
				c := r.Changes[i-1]
				one.Ratio, one.PValue, one.Outcome = c.Ratio, c.PValue, c.Outcome
			}
			rows = append(rows, one)
		}
	}
	return fieldsOf(rows, `topic name quantity unit better subject estimate.value estimate.lo estimate.hi of verdict reasons
		ratio.value ratio.lo ratio.hi p_value outcome`)
}
