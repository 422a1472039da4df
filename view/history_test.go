package view

import (
	"testing"

	"chronoscope/record"
	"chronoscope/stats"
)

// A single point shows no noise. It once was said to have 0.0 %.
func TestNoiseOfOnePoint(t *testing.T) {
	for points, want := range map[int]string{1: "?", 2: "1.0 %"} {
		if got := noiseOf(record.HistorySeries{Points: make([]record.HistoryPoint, points), Noise: stats.FloatOf(0.01)}); got != want {
			t.Errorf("%d points: %q, want %q", points, got, want)
		}
	}
}
