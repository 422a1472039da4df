package render

import (
	"math"
	"strings"
	"testing"

	"chronoscope/view"
)

// An interval that extends beyond the chart has a mark at the edge. It was once cut without one.
func TestCutIntervalsHaveMarks(t *testing.T) {
	axis := view.Axis{Lo: 1, Hi: 100, Log: true}
	for _, c := range []struct {
		from, to float64
		want     string
	}{{2, 50, ""}, {0, 50, "left"}, {2, math.Inf(1), "right"}, {0, 200, "left right"}} {
		d := drawRows(view.Chart{X: axis, Rows: []view.Row{{Spans: []view.Span{{From: c.from, To: c.to}}}}})
		var got []string
		for _, p := range d.Points {
			got = append(got, p.Mark)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v to %v: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// An axis from -4 to 100 % once had a tick "-0 %".
func TestNoTickIsMinusZero(t *testing.T) {
	for _, lo := range []float64{-0.04, -0.0001, 0, -1} {
		s := scale{view.Axis{Lo: lo, Hi: 1, Unit: view.Shares}}
		for _, v := range s.ticks() {
			if label := s.label(v); label == "\u22120 %" {
				t.Errorf("from %v: %q", lo, label)
			}
		}
	}
}

// Two records of the same kind once had links that could not be told apart.
func TestLinksOfAPageDiffer(t *testing.T) {
	first, second := pageSheet{Sheet: &view.Sheet{Title: "Clocks", Facts: []string{"a CPU"}}}, pageSheet{Sheet: &view.Sheet{Title: "Clocks", Facts: []string{"a CPU"}}}
	first.Header.Started = first.Header.Started.AddDate(2025, 0, 0)
	second.Header.Started = first.Header.Started.Add(3e9)
	if a, b := first.About(), second.About(); a == b || !strings.Contains(a, "a CPU, ") {
		t.Errorf("%q and %q", a, b)
	}
}
