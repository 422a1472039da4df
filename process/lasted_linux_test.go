package process

import "testing"

// What the kernel noted is not all of a program that went on for much longer; one whose end was
// seen late has lasted as long as was noted.
func TestLasted(t *testing.T) {
	for _, c := range []struct {
		run     Run
		notedNs int64
		want    bool
	}{
		{Run{WallNs: 60e6, WallErrorNs: 1e6}, 20e3, false},
		{Run{WallNs: 60e6, WallErrorNs: 1e6}, 59.5e6, true},
		{Run{WallNs: 15e6}, 20e3, true}, // by this alone: a launcher may wait so long
		{Run{WallNs: 900e6, Threads: []Thread{{WaitNs: 860e6}}}, 20e6, true},
	} {
		if got := c.run.lasted(c.notedNs); got != c.want {
			t.Errorf("%d ns by the clock, %d noted: %v", c.run.WallNs, c.notedNs, got)
		}
	}
}
