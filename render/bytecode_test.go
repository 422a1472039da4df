package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"chronoscope/bytecode"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// about returns an estimate of a time with an interval of ± 1 %.
func about(ns float64) stats.Estimate {
	return stats.Estimate{Value: ns, Lo: 0.99 * ns, Hi: 1.01 * ns, Unit: "ns", Statistic: "mean", N: 40}
}

// aTiming returns two methods' results for an instruction; the counter's time is a little lower.
func aTiming(mnemonic string, kind bytecode.Kind, form bytecode.Form, ns float64) bytecode.Timing {
	t := bytecode.Timing{Instruction: &bytecode.Instruction{Mnemonic: mnemonic, Opcode: byte(len(mnemonic)), Kind: kind}, Form: form, Judgement: stats.NewJudgement()}
	t.Measured = []bytecode.Measured{
		{Method: bytecode.TSC, Time: about(1.02 * ns), Same: about(1.02 * ns), Trials: 100, Elapsed: 1e6, Judgement: stats.NewJudgement()},
		{Method: bytecode.Counter, Time: about(0.99 * ns), Same: about(ns), Trials: 1000, Elapsed: 2e6, Judgement: stats.NewJudgement()},
	}
	return t
}

func inPair(t bytecode.Timing, companions ...string) bytecode.Timing {
	t.Balance = companions
	return t
}

// someTimings are times of a few instructions, made by hand.
func someTimings() []bytecode.Timing {
	var all []bytecode.Timing
	for i, name := range strings.Fields("nop iconst_0 iadd isub iand iload istore pop dup swap") {
		all = append(all, aTiming(name, bytecode.Arithmetic, bytecode.Homogeneous, 1+0.05*float64(i)))
	}
	all = append(all,
		aTiming("ifeq", bytecode.Branches, bytecode.NotTaken, 1.1), aTiming("ifeq", bytecode.Branches, bytecode.Taken, 3.2),
		inPair(aTiming("iadd", bytecode.Arithmetic, bytecode.Pair, 0.7), "iconst_0"), aTiming("idiv", bytecode.Arithmetic, bytecode.Homogeneous, 8.7),
		aTiming("ldiv", bytecode.Arithmetic, bytecode.Homogeneous, 13.7))
	failed := aTiming("lrem", bytecode.Arithmetic, bytecode.Homogeneous, 1)
	failed.Measured, failed.Failure = nil, "the virtual machine was killed"
	failed.Lower(stats.Unusable, "the virtual machine was killed")
	return append(all, failed)
}

// aBytecode returns a document of an interpreter, a compiler and another virtual machine.
func aBytecode() record.Bytecode {
	java := bytecode.Java{Path: "/usr/bin/java", Version: "17.0.1", Name: "Test VM"}
	first := &bytecode.Result{
		Java: java, Mode: bytecode.Interpreter, Length: 1000, TickNs: 1e6, CountNs: 14, Starts: 3, Stretches: 120, Slow: 7,
		Timings: someTimings(), Overhead: map[bytecode.Method]stats.Estimate{bytecode.Counter: about(55)}, Elapsed: 3e9,
		Unused: map[bytecode.Method]string{bytecode.Nano: "it was not asked for"}, Judgement: stats.NewJudgement(),
	}
	first.Timings[0].Measured[1].Lower(stats.Suspect, "its interval is wide")
	compiled := &bytecode.Result{Java: java, Mode: bytecode.C2, Length: 1000, Timings: []bytecode.Timing{aTiming("ldiv", bytecode.Arithmetic, bytecode.Homogeneous, 5)}, Judgement: stats.NewJudgement()}
	later := &bytecode.Result{Java: bytecode.Java{Path: "/opt/java", Version: "25<b>", Name: "Test VM"}, Mode: bytecode.Interpreter, Length: 1000, Timings: someTimings()[:4], Judgement: stats.NewJudgement()}
	h := record.NewHeader("bytecode", &machine.Machine{CPU: "Test CPU", CPUs: 2, OS: "linux", Caveats: []string{"a <caveat>"}}, 1)
	return documentOf(h, []*bytecode.Result{first, compiled, later}, bytecode.Choice{
		Methods: []bytecode.Method{bytecode.Counter, bytecode.TSC}, Pairings: []bytecode.Pairing{bytecode.Paired, bytecode.Unpaired},
	})
}

// documentOf returns the document of some results.
func documentOf(h record.Header, results []*bytecode.Result, choice bytecode.Choice) record.Bytecode {
	reports := bytecode.Reports(results, choice)
	return record.Bytecode{Header: h, Report: reports[0], Others: reports[1:]}
}

func TestBytecodeText(t *testing.T) {
	var b bytes.Buffer
	showText(&b, aBytecode(), Style{})
	for _, want := range []string{
		"Java 17.0.1, interpreter: Test VM, sequences of 1000, 3 virtual machines, 120 timed and 7 of them left out as slow, in 3.00 s, an empty trial by counter takes 55.0",
		"instruction form by counter ± by tsc off c2 Java 25<b>, interpreter group verdict",
		"nop 0.9900 ns 1.0 % 1.000 ns -1.00 % 0.990 ns a suspect",
		"ldiv 13.56 ns 1.0 % 13.70 ns -1.00 % 4.950 ns c (outlier) trusted",
		"ifeq taken 3.168 ns", "iadd pair 0.6930 ns",
		"lrem ? ? ? ? unusable",
		"13 instructions take 0.990 ns to 13.6 ns: median 1.24 ns",
		"outliers ldiv 13.6 ns, idiv 8.61 ns in 2008 lrem 118 ns, ldiv 113 ns",
		"minimum 0.990 ns 3 1.09 ns 24", "in 2008 unpaired 137 0.988790 1.232 0.934 ns",
		"counter paired 14 1.000000 1.0101 ± 0.0000 ", "counter unpaired 14 1.000000 1.0303 ±",
		"1 sequence predicted from single instructions: off by 23 % in the median, 23 % at most",
		"+23 % iadd, iconst_0: predicted 2.128 ns ± 0.021 ns, took 1.7325 ns ± 0.0069 ns",
		"suspect Java 17.0.1, interpreter, nop: its interval is wide", "unusable Java 17.0.1, interpreter, lrem: the virtual machine was killed", "nano was not used: it was not asked for", "a <caveat>",
	} {
		if !strings.Contains(squeezed(b.String()), squeezed(want)) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
}

// The reference is not compared with itself.
func TestBytecodeLedByTheReference(t *testing.T) {
	h := record.NewHeader("bytecode", &machine.Machine{}, 1)
	r := &bytecode.Result{Mode: bytecode.Interpreter, Timings: someTimings(), Judgement: stats.NewJudgement()}
	d := documentOf(h, []*bytecode.Result{r}, bytecode.Choice{Methods: []bytecode.Method{bytecode.TSC}})
	var b bytes.Buffer
	showText(&b, d, Style{})
	if text := squeezed(b.String()); !strings.Contains(text, "instruction form by tsc ± group verdict") || !strings.Contains(text, "nop 1.020 ns 1.0 % a") {
		t.Errorf("the columns are others:\n%s", &b)
	}
}

// Where the interval reaches to zero, ± is a time. A single instruction "takes". In the column of another mode, an unusable
// time is not shown.
func TestBytecodeNearZero(t *testing.T) {
	h := record.NewHeader("bytecode", &machine.Machine{}, 1)
	near := aTiming("iadd", bytecode.Arithmetic, bytecode.Homogeneous, 1)
	near.Measured = near.Measured[:1]
	near.Measured[0].Time = stats.Estimate{Value: -0.0003, Lo: -0.0123, Hi: 0.0117, Unit: "ns"}
	unusable := aTiming("iadd", bytecode.Arithmetic, bytecode.Homogeneous, 7)
	for i := range unusable.Measured {
		unusable.Measured[i].Lower(stats.Unusable, "it was not compiled")
	}
	results := []*bytecode.Result{
		{Mode: bytecode.C1, Timings: []bytecode.Timing{near}, Judgement: stats.NewJudgement()},
		{Mode: bytecode.C2, Timings: []bytecode.Timing{unusable}, Judgement: stats.NewJudgement()},
	}
	var b bytes.Buffer
	showText(&b, documentOf(h, results, bytecode.Choice{Methods: bytecode.Methods()}), Style{})
	for _, want := range []string{"by " + string(near.Measured[0].Method), "iadd -0.0003000 ns 0.012 ns", "1 instruction takes -0.0003"} {
		if !strings.Contains(squeezed(b.String()), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "6.9") || strings.Contains(b.String(), "7.0") {
		t.Errorf("the unusable time is shown in\n%s", &b)
	}
}

// An interrupted run may have no results at all.
func TestBytecodeOfNothing(t *testing.T) {
	h := record.NewHeader("bytecode", &machine.Machine{}, 1)
	h.Finish(true)
	for _, results := range [][]*bytecode.Result{nil, {{Judgement: stats.NewJudgement()}}, {{Timings: someTimings()[:1], Judgement: stats.NewJudgement()}}, {{Timings: someTimings()[15:], Judgement: stats.NewJudgement()}}} {
		d := documentOf(h, results, bytecode.Choice{Methods: bytecode.Methods()})
		var b bytes.Buffer
		showText(&b, d, Style{})
		if !strings.Contains(b.String(), "Interrupted") {
			t.Errorf("it does not say that it was interrupted:\n%s", &b)
		}
		for _, err := range []error{Page(&b, d), Figure(io.Discard, "svg", d), CSV(&b, d), JSON(&b, d)} {
			if err != nil {
				t.Errorf("%d results: %v", len(results), err)
			}
		}
	}
}

// The CSV table has the fields of the instructions, and their values.
func TestBytecodeCSV(t *testing.T) {
	d := aBytecode()
	var b bytes.Buffer
	if err := CSV(&b, d); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+16+1+4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	text, _ := json.Marshal(d.Instructions[0])
	var fields map[string]any
	_ = json.Unmarshal(text, &fields)
	want := []string{"java.version", "mode", "method"}
	for name, value := range fields {
		inner, ok := value.(map[string]any)
		switch {
		case name == "compiled" || name == "methods": // these are tables of their own
		case ok:
			for field := range inner {
				want = append(want, name+"."+field)
			}
		default:
			want = append(want, name)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(rows[0])), slices.Sorted(slices.Values(want))) {
		t.Errorf("columns %q\nfields %q", rows[0], want)
	}
	last := rows[16]
	if last[3] != "lrem" || last[7] != "" || last[len(last)-1] != "the virtual machine was killed" {
		t.Errorf("%q", last)
	}
}

// chartsOf returns the charts of the sections whose title begins with title.
func chartsOf(t *testing.T, d record.Document, title string) []view.Chart {
	t.Helper()
	sheet, err := view.Of(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sheet.Sections {
		if strings.HasPrefix(s.Title, title) && len(s.Charts) > 0 {
			return s.Charts
		}
	}
	t.Fatalf("nothing is drawn under %q", title)
	return nil
}

// Each figure of the source has its chart, and there are charts for the other runs.
func TestBytecodeCharts(t *testing.T) {
	d := aBytecode()
	for title, charts := range map[string]int{
		"How long 13 instructions take": 1, "The instructions by kind": 1, "The instructions in 3 groups": 1, "The largest groups": 1,
		"How well the methods agree": 4, "1 sequence predicted from single instructions: off by 23 % in the median, 23 % at most": 1,
		"Java 17.0.1, c2 beside Java 17.0.1, interpreter": 1, "Java 25<b>, interpreter beside Java 17.0.1, interpreter": 1,
	} {
		if got := len(chartsOf(t, d, title)); got != charts {
			t.Errorf("%s: %d charts, want %d", title, got, charts)
		}
	}
}

// The tree has one join less than groups, each drawn as three lines. The merges within groups are
// not drawn.
func TestBytecodeTree(t *testing.T) {
	if n := len(chartsOf(t, aBytecode(), "The instructions in 3 groups")[0].Links); n != 3*2 {
		t.Errorf("%d lines are drawn, want 6", n)
	}
}

// The line in a scatter plot is the fitted line.
func TestBytecodeLineIsDrawn(t *testing.T) {
	d := aBytecode()
	line := chartsOf(t, d, "How well the methods agree")[0].Series[0].Points
	for _, at := range line {
		if want := d.Fits[0].InterceptNs + d.Fits[0].Slope*at.X; math.Abs(at.Y-want) > 1e-9 || line[0].X == line[1].X {
			t.Errorf("the line goes through %v, want %v at %v", at.Y, want, at.X)
		}
	}
}

// The page escapes all text, and has everything that the text output has.
func TestBytecodePage(t *testing.T) {
	page := pageOf(t, aBytecode())
	for _, want := range []string{">ldiv</td>", "c (outlier)", "25&lt;b&gt;", "a &lt;caveat&gt;", "the virtual machine was killed", "0.988790"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	for _, bad := range []string{"<caveat>", "25<b>", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
}

// A negative time, which may result when the overhead is subtracted from compiled code, is drawn
// too.
func TestBytecodeBelowZero(t *testing.T) {
	r := &bytecode.Result{Mode: bytecode.C2, Judgement: stats.NewJudgement()}
	for i := range 6 {
		r.Timings = append(r.Timings, aTiming(fmt.Sprint("i", i), bytecode.Arithmetic, bytecode.Homogeneous, 0.01*float64(i-3)))
		for m := range r.Timings[i].Measured {
			e := &r.Timings[i].Measured[m].Time
			e.Lo, e.Hi = math.Min(e.Lo, e.Hi), math.Max(e.Lo, e.Hi)
		}
	}
	d := documentOf(record.NewHeader("bytecode", &machine.Machine{}, 1), []*bytecode.Result{r}, bytecode.Choice{
		Methods: []bytecode.Method{bytecode.TSC}, Pairings: []bytecode.Pairing{bytecode.Paired},
	})
	var b bytes.Buffer
	if err := Figure(&b, "svg", d); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v", err)
	}
}
