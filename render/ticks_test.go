package render

import (
	"testing"

	"chronoscope/view"
)

// Triangles mark the timer's interrupts if these can be told apart, as in Figure 9.4 of Bryant
// 2003; otherwise there are none.
func TestTrianglesAtTimerInterrupts(t *testing.T) {
	triangles := func(ticks int, endNs int64) (n int) {
		lanes := &view.Lanes{EndNs: endNs, Causes: []string{"timer-tick"}, Gaps: []int64{}}
		for range ticks {
			lanes.Ticks = append(lanes.Ticks, 4e6)
		}
		for _, p := range draw(view.Chart{Lanes: lanes}).Points {
			if p.Mark == "triangle" && p.X >= 0 && p.X <= 1 {
				n++
			}
		}
		return n
	}
	if n := triangles(16, 66.9e6); n != 16 {
		t.Errorf("%d triangles for 16 interrupts in 66.9 ms", n)
	}
	if n := triangles(249, 1e9); n != 0 {
		t.Errorf("%d triangles drawn over one another", n)
	}
	if n := triangles(0, 66.9e6); n != 0 {
		t.Errorf("%d triangles without interrupts", n)
	}
}
