package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/activity"
	"chronoscope/fidelity"
	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/slowclock"
	"chronoscope/stats"
	"chronoscope/timermeter"
	"chronoscope/validate"
	"chronoscope/view"
)

// documentsOfEachKind returns what the commands write, from the test data of the command.
func documentsOfEachKind(t testing.TB) []record.Document {
	t.Helper()
	files, err := filepath.Glob("../internal/cli/testdata/documents/*.json")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	var all []record.Document
	for _, file := range files {
		if d, err := record.Open(file); err == nil {
			all = append(all, d)
		} else {
			t.Errorf("%s: %v", file, err)
		}
	}
	return all
}

func pageOf(t testing.TB, documents ...record.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := Page(&b, documents...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each kind of document has a sheet. The report card comes first, and the identifiers of all parts
// differ.
func TestPageOfEachKind(t *testing.T) {
	text := pageOf(t, documentsOfEachKind(t)...)
	kinds := regexp.MustCompile(`<h1>([^<]*)</h1>`).FindAllStringSubmatch(text, -1)
	if len(kinds) < 7 || kinds[0][1] != "Report card" {
		t.Errorf("sheets: %q", kinds)
	}
	seen := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if seen[id[1]] {
			t.Errorf("two parts are called %q", id[1])
		}
		seen[id[1]] = true
	}
	for _, bad := range []string{"NaN", "Inf", "%!", "ZgotmplZ", "&lt;nil&gt;"} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("%q in %q", bad, text[max(0, i-100):min(len(text), i+100)])
		}
	}
}

// A page requests nothing from the network, which may not be there when the page is read.
func TestPageNeedsNothingElse(t *testing.T) {
	text := pageOf(t, documentsOfEachKind(t)...)
	for _, attribute := range regexp.MustCompile(`(?:href|src|srcset|action|data)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(attribute[1], "#") && attribute[1] != "data:," {
			t.Errorf("the page refers to %q", attribute[1])
		}
	}
	if regexp.MustCompile(`@import|url\([^#]|https?://`).MatchString(text) {
		t.Error("the page names something outside of it")
	}
}

// hostile is a text that would do harm if it were treated as markup, in each place of a page.
const hostile = `"><script>window.harm=1</script></script></title></style><img src=x onerror=window.harm=1>'` + "`${window.harm=1}`"

// hostileDocuments returns documents with hostile in each text.
func hostileDocuments() []record.Document {
	h := record.Header{Machine: &machine.Machine{CPU: hostile, Kernel: hostile, OS: hostile, Clocksource: hostile, Hypervisor: hostile, CPUs: 1}, Caveats: []string{hostile}}
	ten, text := stats.FloatOf(10), hostile
	estimate := stats.Estimate{Value: 10, Lo: 9, Hi: 11, Unit: hostile, Statistic: hostile, N: 3}
	pair := stats.Pair{A: hostile, B: hostile, Ratio: stats.Estimate{Value: 2, Lo: 1, Hi: 3}, Outcome: hostile}
	clock := timermeter.Rating{
		Name: hostile, API: hostile, Kind: hostile, Runtime: hostile, Accuracy: estimate, Quality: ten, Judgement: stats.Judgement{Verdict: hostile, Reasons: []string{hostile}},
		Cost: timermeter.Cost{MinNs: ten, MedianNs: ten, P95Ns: ten, P99Ns: ten, MaxNs: ten, Family: &text},
	}
	return []record.Document{
		record.Card{Header: h, Ranking: timermeter.Ranking{Clocks: []timermeter.Rating{clock}, Best: timermeter.Best{Wall: &text}, Unavailable: []timermeter.Unavailable{{Name: hostile, Reason: hostile, Remedy: &text}}},
			Findings: []machine.Finding{{Topic: hostile, Severity: machine.Warning, Seen: hostile, Effect: hostile, Fix: hostile}},
			Advice:   []timermeter.Advice{{Purpose: "wall", FromNs: 10, Method: hostile, Clock: hostile}}},
		record.Activity{Header: h, Traces: []activity.Analysis{{
			Clock: hostile, DurationNs: 1000, Caveats: []string{hostile}, ActiveRatio: ten,
			Combs:   []activity.Comb{{PeriodNs: 10}},
			Periods: []activity.TimedPeriod{{Label: hostile, State: "inactive", StartNs: 10, DurationNs: 10}},
		}}},
		record.Programs{Header: h, Results: []program.Report{{
			Command: hostile, Summary: program.Summary{Estimate: estimate, Wall: estimate}, Judgement: stats.Judgement{Verdict: stats.Suspect, Reasons: []string{hostile}},
			Runs: []program.RunReport{{WallNs: 10, Why: &text}, {WallNs: 12, Rejected: true}}, Failure: &text,
		}}, Pairs: []stats.Pair{pair}},
		record.Bench{Header: h, Results: []gobench.Report{{Benchmark: gobench.Benchmark{Name: hostile, Package: hostile}, Summary: gobench.Summary{Estimate: estimate, Metrics: []gobench.Metric{{Unit: hostile, Value: 1}}}, Judgement: stats.Judgement{Reasons: []string{hostile}}, Repetitions: []gobench.RepetitionReport{{TimeNs: 10}}}}, Pairs: []stats.Pair{pair}},
		record.Fidelity{Header: h, Trust: record.Trust{Sandwiches: []fidelity.Result{{
			Counter: hostile, Reference: hostile, Workload: hostile, Meaning: hostile, Rate: estimate, MaxErrorNs: ten, PermittedNs: ten,
			Samples: []fidelity.Sample{{RequestedNs: 10, ReferenceNs: 10, CounterTicks: 10, CounterNs: ten}},
		}}}},
	}
}

// No text of a document can control a terminal that shows its CSV.
func TestCSVIsHarmless(t *testing.T) {
	for _, d := range filledDocuments("\x1b[8m\u202eharm", func() float64 { return 1 }) {
		if _, err := view.FieldsOf(d); err != nil {
			continue // this kind has no CSV
		}
		var b strings.Builder
		if err := CSV(&b, d); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\u202e") {
			t.Errorf("%T: %q", d, b.String())
		}
	}
}

// No text of a document is treated as markup, in any place of the page. Another test checks the
// same in a browser.
func TestPageEscapesHostileText(t *testing.T) {
	text := pageOf(t, hostileDocuments()...)
	for _, bad := range []string{"<script>window", "<img", "onerror=window.harm=1>"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands on the page", bad)
		}
	}
	if n := strings.Count(text, "window.harm"); n < 50 {
		t.Errorf("only %d of the texts are on the page", n)
	}
	if got, want := strings.Count(text, "</script>"), 2; got != want {
		t.Errorf("%d scripts end, want %d: the trace's data and the page's own", got, want)
	}
}

// Impossible numbers in a document do not break a page.
func TestPageOfOddNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	random := rand.New(rand.NewPCG(1, 2))
	odd := []float64{0, -1, 1e-300, 1e300, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 5}
	pick := func() float64 { return odd[random.IntN(len(odd))] }
	estimate := func() stats.Estimate { return stats.Estimate{Value: pick(), Lo: pick(), Hi: pick()} }
	for range 300 {
		length := pick()
		clock := timermeter.Rating{Name: "tsc", Accuracy: estimate(), Quality: stats.FloatOf(pick()), Cost: timermeter.Cost{MinNs: stats.FloatOf(pick()), P99Ns: stats.FloatOf(pick()), MaxNs: stats.FloatOf(pick())}}
		pageOf(t,
			record.Clocks{Ranking: timermeter.Ranking{Clocks: []timermeter.Rating{clock}}},
			record.Fidelity{Trust: record.Trust{Sandwiches: []fidelity.Result{{Rate: estimate(), PermittedNs: stats.FloatOf(pick()), Samples: []fidelity.Sample{{RequestedNs: pick(), ReferenceNs: pick(), CounterTicks: 7}}}}}},
			record.Activity{Traces: []activity.Analysis{{
				DurationNs: length, ActiveRatio: stats.FloatOf(pick()), Causes: map[activity.Cause]activity.Total{activity.Interrupt: {Count: 1, TotalNs: pick(), MaxNs: pick()}},
				Periods: []activity.TimedPeriod{{State: "inactive", StartNs: pick(), DurationNs: pick()}}, Undisturbed: []activity.Undisturbed{{LengthNs: pick(), Probability: pick()}},
			}}},
			record.Programs{Results: []program.Report{{Summary: program.Summary{Estimate: estimate(), Wall: estimate()}, Runs: []program.RunReport{{WallNs: pick()}}}}, Pairs: []stats.Pair{{Ratio: estimate()}}},
			record.Bench{Results: []gobench.Report{{Summary: gobench.Summary{Estimate: estimate()}, Repetitions: []gobench.RepetitionReport{{TimeNs: pick()}}}}},
			record.SlowClock{EventNs: pick(), Estimates: []slowclock.Result{{Estimate: estimate(), Truth: estimate()}}},
			record.Validation{Report: validate.Report{Outcomes: []validate.Outcome{{Scheme: "kbest", Expected: estimate(), Estimate: estimate(), Error: stats.FloatOf(pick()), DurationNs: int64(random.IntN(3))}}}},
		)
	}
}

// aTrace returns a trace whose gaps are at random places, in order and apart from each other.
func aTrace(gaps int) activity.Analysis {
	random := rand.New(rand.NewPCG(3, uint64(gaps)))
	cpu := 1
	t := activity.Analysis{CPU: &cpu, Clock: "tsc", ThresholdNs: 40, Causes: map[activity.Cause]activity.Total{}}
	causes := activity.Causes()
	for i := range gaps {
		active := activity.TimedPeriod{Label: fmt.Sprintf("A%d", i), State: "active", StartNs: t.DurationNs, DurationNs: 50 + 4e5*random.Float64()}
		cause := causes[random.IntN(len(causes))]
		inactive := activity.TimedPeriod{Label: fmt.Sprintf("I%d", i), State: "inactive", StartNs: active.StartNs + active.DurationNs, DurationNs: 40 + 1e4*random.Float64(), Cause: &cause}
		t.Periods = append(t.Periods, active, inactive)
		t.DurationNs = inactive.StartNs + inactive.DurationNs
		total := t.Causes[cause]
		t.Causes[cause] = activity.Total{Count: total.Count + 1, TotalNs: total.TotalNs + inactive.DurationNs, MaxNs: max(total.MaxNs, inactive.DurationNs)}
	}
	t.ActiveRatio = stats.FloatOf(0.9)
	return t
}

// A trace of 100,000 periods, as of ten seconds, makes a page of less than 2 MB, and writing it
// takes less than 100 MiB of memory.
func TestPageOfLongTraceIsSmall(t *testing.T) {
	document := record.Activity{Traces: []activity.Analysis{aTrace(50_000)}}
	if n := len(pageOf(t, document)); n > 2e6 {
		t.Errorf("%d bytes", n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := Page(io.Discard, document); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 100<<20 {
		t.Errorf("%d bytes of memory a page", n)
	}
}

func BenchmarkPageOfRecord(b *testing.B) {
	text, err := json.Marshal(record.Activity{Header: record.Header{Schema: record.Schema, Command: "activity", Started: time.Unix(1, 0), Machine: &machine.Machine{CPUs: 1}}, Traces: []activity.Analysis{aTrace(50_000)}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		d, err := record.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		if err := Page(io.Discard, d); err != nil {
			b.Fatal(err)
		}
	}
}

// The ticks of an axis are round numbers within it, in order, and no more than fit.
func TestTicks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		lo := math.Exp(40*random.Float64() - 20)
		s := scale{view.Axis{Lo: lo, Hi: lo * math.Exp(0.01+25*random.Float64()), Log: random.IntN(2) == 0}}
		if !s.Log && random.IntN(3) == 0 {
			s.Lo = -s.Lo
		}
		ticks := s.ticks()
		if len(ticks) == 0 || len(ticks) > usualLabels+1 || !slices.IsSorted(ticks) {
			t.Fatalf("%+v: %v", s, ticks)
		}
		for _, v := range ticks {
			if v < s.Lo*(1-1e-9)-1e-300 && s.Lo > 0 || v > s.Hi*(1+1e-9) {
				t.Fatalf("%+v: %v lies beyond", s, v)
			}
		}
		round := ticks // the values are round on a logarithmic axis, the steps on a linear one
		if !s.Log || s.Hi < 10*s.Lo {
			round = []float64{}
			for i, v := range ticks[1:] {
				round = append(round, v-ticks[i])
			}
		}
		for _, v := range round {
			digit := v / math.Pow(10, math.Floor(math.Log10(v)+1e-6))
			if math.Abs(digit-math.Round(digit)) > 1e-6 || !slices.Contains([]float64{1, 2, 3, 5}, math.Round(digit)) {
				t.Fatalf("%+v: %v is not round", s, ticks)
			}
		}
	}
}

func TestTickDuration(t *testing.T) {
	for ns, want := range map[float64]string{
		0: "0", 1: "1 ns", 0.5: "0.5 ns", 1000: "1 µs", 1e6: "1 ms", 2.5e6: "2.5 ms", 1e9: "1 s", 3e10: "30 s", -50: "−50 ns", 999.9999999999: "1 µs",
	} {
		if got := tickDuration(ns); got != want {
			t.Errorf("%v: %q, want %q", ns, got, want)
		}
	}
}

// TestWritePage writes the page of the browser tests to a file, so that a developer can look at it.
func TestWritePage(t *testing.T) {
	if file := os.Getenv("CHRONOSCOPE_PAGE"); file != "" {
		if err := os.WriteFile(file, []byte(pageOf(t, documentsOfEachKind(t)...)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fill sets every field of a value, at all depths, to a text or a number.
func fill(v reflect.Value, text string, number func() float64) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(number())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(3)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, number)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text, number)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text, number)
		fill(value, text, number)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text, number)
			}
		}
	}
}

// filledDocuments returns all kinds of documents, with a text and odd numbers in every field.
func filledDocuments(text string, number func() float64) []record.Document {
	var all []record.Document
	for _, empty := range emptyDocuments() {
		d := reflect.New(reflect.TypeOf(empty)).Elem()
		fill(d, text, number)
		all = append(all, d.Interface().(record.Document))
	}
	return all
}

// No field of any kind of document is treated as markup, and none breaks the page, whatever it
// contains.
func TestPageOfAnyField(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	odd := []float64{0, -1, 1e-300, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), 5, 1, 0.5}
	for range 30 {
		for _, d := range filledDocuments(hostile, func() float64 { return odd[random.IntN(len(odd))] }) {
			text := pageOf(t, d)
			for _, bad := range []string{"<script>window", "<img", "onerror=window.harm=1>", "%!", "ZgotmplZ"} {
				if strings.Contains(text, bad) {
					t.Fatalf("%T: %q stands on the page", d, bad)
				}
			}
			if !strings.Contains(text, "window.harm") {
				t.Fatalf("%T: its texts are not on the page", d)
			}
		}
	}
}

// emptyDocuments returns an empty document of each kind that can be read.
func emptyDocuments() (all []record.Document) {
	for _, command := range record.Commands() {
		d, _ := record.Parse(fmt.Appendf(nil, `{"schema": %q, "command": %q}`, record.Schema, command)) // an error about missing fields does not matter here
		all = append(all, reflect.Zero(reflect.TypeOf(d)).Interface().(record.Document))
	}
	return all
}

// Every kind of document that can be read has a sheet on a page, even if it is empty.
func TestPageOfEveryReadableKind(t *testing.T) {
	if n := len(emptyDocuments()); n < 11 {
		t.Errorf("%d kinds can be read", n)
	}
	pageOf(t, emptyDocuments()...)
}

// A page contains no characters that reverse the writing direction of the text around them.
func TestPageWithoutBidi(t *testing.T) {
	d := record.Programs{Results: []program.Report{{Command: "run \u202exe.fdp"}}}
	var b strings.Builder
	if err := Page(&b, d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "run \uFFFDxe.fdp") || strings.Contains(b.String(), "\u202e") {
		t.Error("the page holds the name as it was")
	}
}
