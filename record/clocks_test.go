package record

import (
	"testing"

	"chronoscope/clock"
	"chronoscope/stats"
	"chronoscope/timermeter"
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

// Six quick rankings recommended the process's CPU time three times and the thread's three
// times, and for timestamps three times atomic time, which is 37 s ahead of UTC: whichever had
// the better quality then. What is recommended has one meaning, whatever the quality.
func TestBestHasOneMeaning(t *testing.T) {
	all := timermeter.Local{}
	add := func(c clock.Clock, quality float64) {
		c.Runtime = "go"
		all.Ratings = append(all.Ratings, timermeter.Rating{Clock: c, Quality: quality, Judgement: stats.NewJudgement()})
	}
	wall := func(name string, suspend clock.Answer, settable bool) clock.Clock {
		return clock.Clock{Name: name, Kind: clock.KindWall, Scope: clock.ScopeMachine, CountsSuspend: suspend, Settable: settable}
	}
	add(wall("boottime", clock.Yes, false), 0.6)
	add(wall("monotonic", clock.No, false), 0.4)
	add(wall("tai", clock.Yes, true), 0.6)
	utc := wall("realtime", clock.Yes, true)
	utc.Calendar = true
	add(utc, 0.4)
	add(clock.Clock{Name: "clock", Kind: clock.KindCPU, Scope: clock.ScopeProcess}, 0.6)
	add(clock.Clock{Name: "thread-cputime", Kind: clock.KindCPU, Scope: clock.ScopeThread}, 0.3)
	add(clock.Clock{Name: "perf-instructions", Kind: clock.KindCounter, Scope: clock.ScopeThread}, 0.6)
	add(clock.Clock{Name: "tsc", Kind: clock.KindCounter, Scope: clock.ScopeMachine}, 0.3)
	best := NewRanking(&all).Best
	for name, got := range map[string]*string{"monotonic": best.Wall, "thread-cputime": best.CPU, "realtime": best.Timestamp, "tsc": best.Counter} {
		if got == nil || *got != name {
			t.Errorf("%v is recommended, want %s", or(got), name)
		}
	}
	if tai, err := clock.Open("tai"); err == nil {
		defer tai.Close()
		if tai.Calendar {
			t.Error("TAI passes for a calendar of UTC")
		}
	}
}

func or(name *string) string {
	if name == nil {
		return "nothing"
	}
	return *name
}
