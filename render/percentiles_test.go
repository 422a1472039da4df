package render

import (
	"bytes"
	"strings"
	"testing"

	"chronoscope/program"
	"chronoscope/stats"
)

func TestPercentilesOfManyRuns(t *testing.T) {
	d := programs()
	d.Pairs = nil
	one := d.Results[0]
	one.Runs = one.Runs[:1] // only the rejected run
	var wall []float64
	for i := range 50 {
		run := d.Results[0].Runs[1]
		run.WallNs = float64(100+i) * 1e6
		one.Runs, wall = append(one.Runs, run), append(wall, run.WallNs)
	}
	one.Outliers = []program.Outlier{{Run: 50, Causes: []string{"preempted <17> times"}}}
	one.Percentiles = &program.Percentiles{Wall: stats.TailsOf(wall), Time: stats.TailsOf(wall)}
	d.Results[0] = one
	for name, shown := range map[string]func(*bytes.Buffer) error{
		"text":   func(b *bytes.Buffer) error { showText(b, d, Style{Width: 240}); return nil },
		"figure": func(b *bytes.Buffer) error { return Figure(b, "svg", d) },
	} {
		var b bytes.Buffer
		if err := shown(&b); err != nil {
			t.Fatal(err)
		}
		wants := []string{"work --size 1", "by the clock", "124.5 ms (117.0 to 132.0 ms)", "144.1 ms (140.0 to 149.0 ms)", "149.0 ms"}
		if name == "figure" {
			wants = []string{"Single runs", "share of the runs", "run 51: 149.0 ms by the clock: preempted &lt;17&gt; times"}
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, &b)
			}
		}
	}
	d.Results = d.Results[:1]
	var b bytes.Buffer
	showText(&b, d, Style{Width: 240})
	for _, want := range []string{"  runs      alone on the machine: p50 124.5 ms (117.0 to 132.0 ms), p90 144.1 ms (140.0 to 149.0", "\n            by the clock: p50 "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
