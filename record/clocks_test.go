package record

import (
	"testing"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Of several runtimes this program's own clocks are recommended, and another's only
// where there are none of its own; then the best one is.
func TestBestOfRuntimes(t *testing.T) {
	of := func(runtime, name string, quality float64) Clock {
		return Clock{Name: name, Runtime: runtime, Kind: clock.KindWall, Quality: &quality, Verdict: stats.Trusted}
	}
	java, python := of("java", "java/a", 0.495), of("python", "python/b", 0.5)
	for _, c := range []struct {
		clocks []Clock
		want   string
	}{
		{[]Clock{python, java, of("go", "monotonic", 0.3), of("go", "monotonic-raw", 0.31)}, "monotonic"},
		{[]Clock{python, java}, "python/b"},
		{[]Clock{java}, "java/a"},
	} {
		if got := bestOf(c.clocks).Wall; got == nil || *got != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}
