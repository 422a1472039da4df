package render

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// madeUp returns results, made by hand, of a counter of 2.5 GHz that jumped once.
func madeUp() []fidelity.Result {
	r := fidelity.Result{Counter: "tsc", Reference: "monotonic", Workload: "sleep", Judgement: stats.NewJudgement(), Meaning: "rely on nothing"}
	r.Rate = stats.Estimate{Value: 2.5e9, Lo: 2.49e9, Hi: 2.51e9, Unit: "Hz"}
	for n := range 3 {
		ns := 20e6 * float64(n+1)
		r.Samples = append(r.Samples, fidelity.Sample{
			RequestedNs: ns, ReferenceNs: ns, CounterTicks: int64(ns * 2.5), CounterNs: stats.FloatOf(ns), ErrorNs: 50,
		})
	}
	r.Samples[1].CounterTicks += 7500
	r.Count, r.PermittedNs = 3, stats.FloatOf(50)
	r.MaxErrorNs, r.MaxErrorPPM = stats.FloatOf(3000), stats.FloatOf(75)
	r.Faults = []fidelity.Fault{{Kind: fidelity.Jumped, Size: stats.FloatOf(3000), Unit: "ns", Verdict: stats.Unusable, Says: "it jumped once by 3 µs"}}
	r.Lower(stats.Unusable, "it jumped once by 3 µs")
	return []fidelity.Result{r}
}

func TestFidelityText(t *testing.T) {
	offset := stats.Estimate{Value: -0.2, Lo: -50, Hi: 51, Unit: "ns"}
	findings := []check.Finding{
		{Clock: "tsc", Check: check.CPUOffset, Estimate: &offset, Judgement: stats.NewJudgement()},
		{Clock: "tsc", Check: check.Wrap, Notes: []string{"it ends"}, Judgement: stats.NewJudgement()},
		{Clock: "tscp", Check: check.Wrap, Notes: []string{"it ends"}, Judgement: stats.NewJudgement()},
	}
	findings[2].Lower(stats.Suspect, "it is short")
	d := record.Fidelity{Trust: record.Trust{Sandwiches: madeUp(), Checks: findings}, Header: record.NewHeader("fidelity", &machine.Machine{CPU: "Test CPU", CPUs: 2, OS: "linux"}, 1)}
	var b bytes.Buffer
	showText(&b, d, Style{})
	for _, want := range []string{
		"tsc beside monotonic, which rest on the same oscillator",
		"sleep           3      0  2500.000000  0.40 %      3.00 µs    50.0 ns     75.0 ppm  unusable",
		"unusable beside sleep: it jumped once by 3 µs",
		"3 checks of 2 clocks, 2 passed (cpu-offset, wrap)",
		"suspect tscp, wrap: it is short",
		"cpu-offset of tsc: 0 ns (-50 to 51)",
		"note on tsc, tscp: it ends",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func TestFidelityCSV(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, record.Fidelity{Trust: record.Trust{Sandwiches: madeUp()}}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 4 || rows[2][5] != "100007500" || rows[2][3] != "4e+07" {
		t.Errorf("%q, %v", rows, err)
	}
}

// The figure has both parts, even for samples without information.
func TestFidelityFigure(t *testing.T) {
	unknown := madeUp()
	unknown[0].Rate.Value = math.NaN()
	for name, results := range map[string][]fidelity.Result{"a jump": madeUp(), "no rate": unknown} {
		var b bytes.Buffer
		if err := Figure(&b, "svg", record.Fidelity{Trust: record.Trust{Sandwiches: results}}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, want := range []string{"requested", "counter less reference", "monotonic"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: the figure lacks %q", name, want)
			}
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s: the figure holds numbers that are none", name)
		}
	}
}
