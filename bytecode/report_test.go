package bytecode

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"chronoscope/stats"
)

// timed returns the result of several methods for an instruction. The first method is the reference; its
// time for the other methods' executions is the same as for its own.
func timed(mnemonic string, form Form, ns map[Method]float64) Timing {
	t := Timing{Instruction: &Instruction{Mnemonic: mnemonic}, Form: form, Judgement: stats.NewJudgement()}
	estimate := func(m Method) stats.Estimate {
		return stats.Estimate{Value: ns[m], Lo: 0.9 * ns[m], Hi: 1.1 * ns[m], Unit: "ns", Statistic: "mean", N: 5}
	}
	for _, m := range Methods() {
		if _, ok := ns[m]; ok {
			t.Measured = append(t.Measured, Measured{Method: m, Time: estimate(m), Same: estimate(TSC), Trials: 7, Elapsed: 11, Judgement: stats.NewJudgement()})
		}
	}
	return t
}

// bothWays returns the result for an instruction by the time stamp counter and by a counting thread.
func bothWays(mnemonic string, form Form, tsc, counter float64) Timing {
	return timed(mnemonic, form, map[Method]float64{TSC: tsc, Counter: counter})
}

func reportsOf(results ...*Result) []Report {
	return Reports(results, Choice{
		Methods: []Method{Counter, TSC}, Pairings: []Pairing{Paired, Unpaired},
	})
}

func reportOf(r *Result) Report { return reportsOf(r)[0] }

// usualResult returns the result of a run of a few instructions in all forms.
func usualResult() *Result {
	r := &Result{
		Java: Java{Version: "17"}, Mode: Interpreter, Length: 1000, TickNs: 1e6, Judgement: stats.NewJudgement(),
		Overhead: map[Method]stats.Estimate{Counter: {Value: 50, Lo: 49, Hi: 51, Unit: "ns", Statistic: "mean"}},
	}
	for i, ns := range []float64{1, 1.1, 1.2, 1.3, 1.4, 1.5, 3.2} {
		r.Timings = append(r.Timings, bothWays(fmt.Sprint("i", i), Homogeneous, ns, ns))
	}
	pair := bothWays("i0", Pair, 0.5, 0.5)
	pair.Balance = []string{"i1", "i2"}
	r.Timings = append(r.Timings, bothWays("ifeq", NotTaken, 1.6, 1.6), bothWays("ifeq", Taken, 50, 50), pair, bothWays("ldiv", Homogeneous, 20, 10))
	return r
}

// The analysis uses one time of each instruction; other forms are not part of it.
func TestBytecodeAnalysis(t *testing.T) {
	d := reportOf(usualResult())
	if d.Method != "counter" || d.Overhead.Value != 50 || d.TickNs.Value() != 1e6 || d.CountNs.Known() {
		t.Errorf("it leads with %s, whose overhead is %v; %v %v", d.Method, d.Overhead, d.TickNs, d.CountNs)
	}
	if d.Summary.Instructions != 9 || d.Summary.MinNs.Value() != 1 || d.Summary.MaxNs.Value() != 10 || d.Summary.UpperNs.Value() != 1.6 || !(math.Abs(d.Summary.MedianNs.Value()-1.4) <= 1e-12) {
		t.Errorf("%+v", d.Summary)
	}
	if len(d.Clusters) != 6 || d.Clusters[5].Groups != 1 || len(d.Groups) != 3 || strings.Join(d.Groups[0].Instructions, " ") != "i0 i1 i2 i3 i4 i5 ifeq" {
		t.Errorf("%+v %+v", d.Clusters, d.Groups)
	}
	for _, c := range []struct{ mnemonic, form, cluster, outlier string }{
		{"i0", "homogeneous", "a", "false"}, {"ifeq", "not-taken", "a", "false"}, {"ifeq", "taken", "", ""}, {"i0", "pair", "", ""}, {"i6", "homogeneous", "b", "true"}, {"ldiv", "homogeneous", "c", "true"},
	} {
		i, ok := d.Instruction(c.mnemonic, Form(c.form))
		cluster, outlier := "", ""
		if i.Cluster != nil {
			cluster = *i.Cluster
		}
		if i.Outlier != nil {
			outlier = fmt.Sprint(*i.Outlier)
		}
		if !ok || cluster != c.cluster || outlier != c.outlier {
			t.Errorf("%s, %s: cluster %q, outlier %q", c.mnemonic, c.form, cluster, outlier)
		}
	}
}

// Both pairings are fitted, without pairs of instructions. Instructions whose times are far off are named.
func TestBytecodeFits(t *testing.T) {
	fits := reportOf(usualResult()).Fits
	if len(fits) != 2 || fits[0].Pairing != "paired" || fits[1].Pairing != "unpaired" {
		t.Fatalf("%+v", fits)
	}
	for _, f := range fits {
		if f.Method != "counter" || f.Points != 10 || len(f.Residuals) != 10 || f.Above != 3 || strings.Join(f.Strays, " ") != "ldiv" || f.MaxError.Value() != 0.5 || f.MedianError.Value() != 0 {
			t.Errorf("%+v", f)
		}
	}
	// Two points are too few for a line.
	r := usualResult()
	r.Timings = r.Timings[:2]
	if fits := reportOf(r).Fits; len(fits) != 0 {
		t.Errorf("%+v", fits)
	}
}

// Unusable times are neither analysed nor compared, and they are named.
func TestBytecodeLeavesOutWhatIsUnusable(t *testing.T) {
	r := usualResult()
	r.Timings[1].Measured[1].Lower(stats.Unusable, "the counting thread stood still") // i1 by the counter
	r.Timings[2].Measured[0].Lower(stats.Unusable, "its CPU was stolen")              // i2 by the reference
	d := reportOf(r)
	if i, _ := d.Instruction("i1", "homogeneous"); i.Cluster != nil || d.Summary.Instructions != 8 {
		t.Errorf("%+v, %+v", i, d.Summary)
	}
	for i, want := range []string{"i1", "i1 i2"} {
		if f := d.Fits[i]; strings.Join(f.LeftOut, " ") != want || f.Points != 10-len(f.LeftOut) {
			t.Errorf("%s: left out %v, want %s, of %d points", f.Pairing, f.LeftOut, want, f.Points)
		}
	}
}

// If the leading method has no time of an instruction, it is unusable even if another method has one.
func TestBytecodeWithoutALeadingTimeIsUnusable(t *testing.T) {
	r := usualResult()
	r.Timings[1] = timed("i1", Homogeneous, map[Method]float64{TSC: 1.1})
	i, _ := reportOf(r).Instruction("i1", "homogeneous")
	if stats.IsFinite(i.Time.Value) || i.Verdict != stats.Unusable || len(i.Reasons) != 1 || !strings.Contains(i.Reasons[0], "by counter") {
		t.Errorf("%+v", i)
	}
	if len(i.Methods) != 1 || i.Methods[0].Verdict != stats.Trusted || i.Cluster != nil {
		t.Errorf("%+v", i)
	}
}

// i0 takes 0.5 ns next to i1 and i2, which take 2.3 ns: 2.8 ns together. The sum of their own times is
// 3.3 ns.
func TestBytecodePredictions(t *testing.T) {
	p := reportOf(usualResult()).Predictions
	if len(p) != 1 || strings.Join(p[0].Instructions, " ") != "i0 i1 i2" {
		t.Fatalf("%+v", p)
	}
	for what, c := range map[string][2]float64{
		"predicted": {p[0].Predicted.Value, 3.3}, "at least": {p[0].Predicted.Lo, 0.9 * 3.3}, "measured": {p[0].Measured.Value, 2.8},
		"at most": {p[0].Measured.Hi, 2.3 + 0.55}, "error": {p[0].Error.Value(), 0.5 / 2.8},
	} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
}

// The first run leads. Times in compiled code are added to the instructions of the same virtual machine.
func TestBytecodeOfSeveralMachines(t *testing.T) {
	compiled := &Result{Java: Java{Version: "17"}, Mode: C2, Judgement: stats.NewJudgement(), Timings: []Timing{
		timed("ldiv", Homogeneous, map[Method]float64{TSC: 5}),
	}}
	other := usualResult()
	other.Java.Version = "25"
	all := reportsOf(usualResult(), compiled, other)
	d := all[0]
	if len(all) != 3 || d.Java.Version != "17" || d.Mode != "interpreter" || all[1].Mode != "c2" || all[1].Method != "tsc" || all[2].Java.Version != "25" {
		t.Fatalf("%+v", d)
	}
	if i, _ := d.Instruction("ldiv", "homogeneous"); i.Compiled.C1 != nil || i.Compiled.C2 == nil || i.Compiled.C2.Value != 5 {
		t.Errorf("of ldiv survives %+v", i.Compiled)
	}
	if i, _ := all[2].Instruction("ldiv", "homogeneous"); i.Compiled != (Compiled{}) {
		t.Errorf("of another machine's ldiv survives %+v", i.Compiled)
	}
}

// An unknown time is null but has a unit, and the document reads back as it was.
func TestBytecodeInJSON(t *testing.T) {
	r := usualResult()
	failed := Timing{Instruction: &Instruction{Mnemonic: "lrem"}, Form: Homogeneous, Judgement: stats.NewJudgement()}
	failed.Lower(stats.Unusable, "the virtual machine was killed")
	r.Timings = append(r.Timings, failed)
	for _, d := range []Report{reportOf(r), reportsOf()[0]} {
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back Report
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(back)
		if string(again) != string(data) {
			t.Errorf("it reads back as\n%s\nand was\n%s", again, data)
		}
		for _, list := range []string{"instructions", "clusters", "groups", "fits", "predictions"} {
			if strings.Contains(string(data), `"`+list+`":null`) {
				t.Errorf("%s is null", list)
			}
		}
	}
	i, _ := reportOf(r).Instruction("lrem", "homogeneous")
	data, _ := json.Marshal(i.Time)
	if want := `{"value":null,"lo":null,"hi":null,"confidence":0.95,"unit":"ns","statistic":"none","n":0,"discarded":0}`; string(data) != want {
		t.Errorf("%s", data)
	}
	if i.Verdict != stats.Unusable || !slices.Equal(i.Reasons, failed.Reasons) {
		t.Errorf("%+v", i)
	}
}
