package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/validate"
)

// aValidation returns a validation of two schemes and loads, made by hand.
func aValidation() validate.Report {
	var r validate.Report
	r.Timers = []validate.Timer{{Name: "gettimeofday", ResolutionNs: stats.FloatOf(1000), LatencyNs: 25}, {Name: "times", LatencyNs: 480}}
	for i, load := range []int{1, 11} {
		for _, ms := range []float64{1, 30, 1000} {
			truth := stats.Estimate{Value: ms * 1e6, Lo: 0.999 * ms * 1e6, Hi: 1.001 * ms * 1e6, Unit: "ns", Statistic: "reference", N: 9}
			for _, scheme := range []string{validate.SourceK3, validate.OwnKBest, validate.Times} {
				off := map[string]float64{validate.SourceK3: float64(load-1) + 0.004, validate.OwnKBest: -0.02, validate.Times: -1}[scheme]
				covered := scheme != validate.SourceK3
				o := validate.Outcome{
					Scheme: scheme, Work: validate.Chain, Regime: validate.Regime{Load: load}.Named(), DurationNs: int64(ms * 1e6), Expected: truth,
					Estimate: stats.Estimate{Value: truth.Value * (1 + off), Lo: 0.9 * truth.Value * (1 + off), Hi: 1.1 * truth.Value * (1 + off), Unit: "ns", Statistic: "min-k", N: 3},
					Error:    stats.FloatOf(off), Covered: &covered, Judgement: stats.NewJudgement(),
				}
				r.Outcomes = append(r.Outcomes, o)
			}
			r.Fits = []validate.WorkFit{{Work: validate.Chain, Regime: validate.Regime{Load: load}, Fit: validate.Fit{RoundNs: 1.25, StartNs: 21.5, Error: 0.0001 * ms}}}
			c := validate.CellSamples{Work: validate.Chain, Regime: validate.Regime{Load: load}.Named(), DurationNs: int64(ms * 1e6), Expected: truth}
			for n := range 20 {
				c.WallNs = append(c.WallNs, truth.Value*float64(load)*(1+0.01*float64(n%(i+2))))
				c.TimesNs, c.GetrusageNs = append(c.TimesNs, stats.FloatOf(0)), append(c.GetrusageNs, stats.Float{})
			}
			r.Samples = append(r.Samples, c)
		}
	}
	bad := r.Outcomes[1]
	bad.Work, bad.Error, bad.Covered = validate.Ints, stats.Float{}, nil
	bad.Estimate = stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Unit: "ns", Statistic: "none"}
	bad.Judgement = stats.NewJudgement()
	bad.Lower(stats.Unusable, "nothing could be used")
	r.Outcomes = append(r.Outcomes, bad)
	r.Compensation = []validate.Compensation{
		{DurationNs: 1e7, ErrorNs: 1.1e5, LostNs: 1e5, RemovedNs: 9e4, Residual: 0.002, OwnResidual: stats.FloatOf(-0.0031)},
		{DurationNs: 3e7, ErrorNs: -2e3, RemovedNs: 1e3, Residual: -0.0001},
	}
	r.Reach, r.Coverage = validate.ReachOf(r.Outcomes), validate.CoverageOf(r.Outcomes)
	return r
}

func aValidationDocument() record.Validation {
	return record.Validation{Header: record.NewHeader("validate", &machine.Machine{CPU: "Test CPU", CPUs: 2, OS: "linux", Caveats: []string{"one is left out"}}, 1), Report: aValidation()}
}

// A cell whose truth is not known is shown with its error and the method's own verdict. An earlier
// version left such cells out, and thereby hid a wrong "trusted".
func TestNoTruthIsShown(t *testing.T) {
	d := aValidationDocument()
	for i := range d.Outcomes {
		d.Outcomes[i].NoTruth = d.Outcomes[i].Scheme == "source-k3" && d.Outcomes[i].Load == 11
	}
	var b bytes.Buffer
	showText(&b, d, Style{})
	if text := squeezed(b.String()); !strings.Contains(text, "11 (+1000 % trusted) (+1000 % trusted) (+1000 % trusted)") {
		t.Errorf("%s", b.String())
	}
}

// A note before all figures mentions cells that an earlier start measured, and these are marked.
func TestResumedCellsAreShown(t *testing.T) {
	d := aValidationDocument()
	then := time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)
	for i := range d.Outcomes {
		if d.Outcomes[i].Scheme == "source-k3" && d.Outcomes[i].Load == 11 {
			then = then.Add(time.Minute)
			taken := then
			d.Outcomes[i].Resumed = &taken
		}
	}
	var b bytes.Buffer
	showText(&b, d, Style{})
	text := squeezed(b.String())
	said := strings.Index(text, "3 of 19 figures were measured by an earlier start, from 2026-11-22 09:31:00 to 2026-11-22 09:33:00, and are marked *; Restart measures them anew")
	if said < 0 || said > strings.Index(text, "gettimeofday") || !strings.Contains(text, "loops 11 +1000 %* +1000 %* +1000 %*") || strings.Count(text, "%*") != 3 {
		t.Errorf("%s", b.String())
	}
}

func TestValidationText(t *testing.T) {
	var b bytes.Buffer
	showText(&b, aValidationDocument(), Style{})
	for _, want := range []string{
		"gettimeofday     1.00 µs  25.0 ns",
		"times                  ?   480 ns",
		"chain beside loops 11: r rounds take 1.25 ns r +21.5 ns, short runs to within 10 %",
		"error of chain  neighbours   1.00 ms   30.0 ms   1.00 s",
		"source-k3          none   +0.40 %   +0.40 %  +0.40 %",
		"            loops 11  +1000 %  +1000 %  +1000 %",
		"kbest            none   -2.00 %",
		"error of ints  neighbours  1.00 ms",
		"unusable kbest, ints 1.00 ms alone: nothing could be used",
		"source-k3            0.10 %",
		"The truth was known to ±0.10 % typically, and to ±0.10 % at worst",
		"10.0 ms 110 µs 100 µs 90.0 µs 90 % +0.20 % -0.31 %",
		"30.0 ms -2.00 µs 0 ns 1.00 µs ? -0.01 % -",
		"one is left out",
		"source-k3          none  0 of 3  0 (0 %)  0    10 %",
		"kbest              none  3 of 3  0 (0 %)  1    10 %",
		"loops 11 3 of 3 0 (0 %) 0 10 %",
	} {
		if !strings.Contains(squeezed(b.String()), squeezed(want)) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// The page shows what compensation subtracts, if there are such results.
func TestValidationPage(t *testing.T) {
	d := aValidationDocument()
	for _, shown := range []bool{true, false} {
		var b bytes.Buffer
		if err := Page(&b, d); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "compensation takes off") && strings.Contains(b.String(), "90 %"); got != shown {
			t.Errorf("compensation is shown: %v, not %v", got, shown)
		}
		d.Compensation = nil
	}
}

// squeezed joins words by single blanks, since the width of columns depends on their content.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// The CSV table has the fields of the cells, and their values.
func TestValidationCSV(t *testing.T) {
	d := aValidationDocument()
	var b bytes.Buffer
	if err := CSV(&b, d); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+len(d.Outcomes) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	d.Outcomes[0].Marks, d.Outcomes[0].Kind, d.Outcomes[0].Resumed = []string{"a competitor ended"}, validate.Sleep, &time.Time{}
	text, _ := json.Marshal(d.Outcomes[0])
	var fields map[string]any
	_ = json.Unmarshal(text, &fields)
	var names []string
	for name, value := range fields {
		if inner, ok := value.(map[string]any); ok {
			for field := range inner {
				names = append(names, name+"."+field)
			}
			continue
		}
		names = append(names, name)
	}
	if !slices.Equal(slices.Sorted(slices.Values(rows[0])), slices.Sorted(slices.Values(names))) {
		t.Errorf("columns %q\nfields %q", rows[0], names)
	}
	last := rows[len(rows)-1]
	if last[0] != "kbest" || last[1] != "ints" || last[len(last)-4] != "nothing could be used" || last[len(last)-6] != "" || last[len(last)-2] != "none" || last[len(last)-1] != "" {
		t.Errorf("%q", last)
	}
}

// The kernel's accounts and the samples in their order are drawn, as far as there is data.
// Documents of versions that did not keep samples have neither figure.
func TestValidationFigures(t *testing.T) {
	d := aValidationDocument()
	if n := len(chartsOf(t, d, "How far interval counting is off")); n != 1 { // one chart, by times; getrusage was not read
		t.Errorf("%d charts of interval counting", n)
	}
	again := chartsOf(t, d, "A procedure, measured again and again")
	if len(again) != 2 || len(again[0].Series) != 2 || len(again[0].Series[0].Points) != 20 || again[0].Series[0].Points[0].Y != 30e6 || again[1].Series[0].Points[0].Y != 1e6 {
		t.Errorf("%+v", again)
	}
	if n := len(chartsOf(t, d, "How far methods of measuring are off")); n != 3 {
		t.Errorf("%d charts of errors, want one for each scheme", n)
	}
}
