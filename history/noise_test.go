package history

import (
	"testing"

	"chronoscope/record"
)

// The noise of a single point is not known. It once was 1e-6.
func TestNoiseOfOnePoint(t *testing.T) {
	for points, known := range map[int]bool{1: false, 2: true} {
		x, _, err := Open(archiveOf(t, t.TempDir(), points, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range Of(record.Header{}, x, Filter{}).Series {
			if len(s.Points) != points || s.Noise.Known() != known {
				t.Errorf("%d points: noise %v of %d points", points, s.Noise, len(s.Points))
			}
		}
	}
}
