package timermeter

import (
	"encoding/json"
	"math"
	"testing"

	"chronoscope/clock"
	"chronoscope/stats"
)

// ratingOf returns a rating with the given name and quality.
func ratingOf(name string, kind clock.Kind, quality float64, describe func(*Rating)) Rating {
	r := Rating{Name: name, Kind: kind, Quality: stats.FloatOf(quality), Judgement: stats.NewJudgement()}
	if describe != nil {
		describe(&r)
	}
	return r
}

// Among the clocks that are tied with the best, the most usual one is recommended. A clock that is
// unusable or of quality 0 is never recommended, and one that can be set is not recommended for
// intervals.
func TestBestClocks(t *testing.T) {
	r := (&Local{Ratings: []Rating{
		ratingOf("realtime", clock.KindWall, 0.60, func(r *Rating) { r.Settable, r.Calendar = true, true }),
		ratingOf("boottime", clock.KindWall, 0.505, nil),
		ratingOf("monotonic", clock.KindWall, 0.50, nil),
		ratingOf("go-time-now", clock.KindWall, 0.45, nil),
		ratingOf("tsc", clock.KindCounter, 0.40, func(r *Rating) { r.Lower(stats.Unusable, "steps back") }),
		ratingOf("tscp", clock.KindCounter, 0.35, nil),
		ratingOf("times", clock.KindCPU, 0, nil),
	}}).Ranking()
	name := func(p *string) string {
		if p == nil {
			return "none"
		}
		return *p
	}
	for _, c := range []struct{ purpose, got, want string }{
		{"wall", name(r.Best.Wall), "monotonic"},
		{"timestamp", name(r.Best.Timestamp), "realtime"},
		{"counter", name(r.Best.Counter), "tscp"},
		{"cpu", name(r.Best.CPU), "none"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.purpose, c.got, c.want)
		}
	}
}

// A value that could not be measured is null, and the document is valid JSON.
func TestUnknownIsNull(t *testing.T) {
	r := (&Local{Ratings: []Rating{ratingOf("tsc", clock.KindCounter, math.NaN(), func(r *Rating) {
		r.Accuracy = stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.Inf(1)}
		r.Cost.MaxNs = stats.FloatOf(0)
	})}, Unavailable: []*clock.Unavailable{{Name: "tscp", Reason: clock.NoInstruction}}}).Ranking()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Clocks []struct {
			Quality  *float64
			Accuracy struct{ Value, Hi *float64 }
			Cost     struct {
				P99 *float64 `json:"p99_ns"`
				Max *float64 `json:"max_ns"`
			}
		}
		Unavailable []struct{ Remedy *string }
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	c := back.Clocks[0]
	if c.Quality != nil || c.Accuracy.Value != nil || c.Accuracy.Hi != nil || c.Cost.P99 != nil || c.Cost.Max == nil || back.Unavailable[0].Remedy != nil {
		t.Errorf("%s", text)
	}
}

// Advice promises an error of one percent for durations that are at least a hundred times the sum of
// the accuracy and the variation of the cost.
func TestAdvice(t *testing.T) {
	name := "monotonic"
	all := Ranking{Best: Best{Wall: &name}, Clocks: []Rating{{
		Name: name, Accuracy: stats.Estimate{Value: 10, Hi: 10}, Cost: Cost{MinNs: stats.FloatOf(20), P95Ns: stats.FloatOf(30)},
	}}}.Advice()
	if len(all) != 1 || all[0].Purpose != "wall" || all[0].FromNs != 2000 || all[0].ExpectedError != 0.01 || all[0].ToNs.Known() {
		t.Errorf("%+v", all)
	}
}

// There is no advice for a clock whose accuracy has no upper bound.
func TestAdviceNeedsABound(t *testing.T) {
	for _, hi := range []float64{math.NaN(), math.Inf(1)} {
		r := (&Local{Ratings: []Rating{ratingOf("monotonic", clock.KindWall, 0.5, func(r *Rating) {
			r.Runtime = "go"
			r.Accuracy = stats.Estimate{Value: 10, Lo: 5, Hi: hi}
		})}}).Ranking()
		if *r.Best.Wall != "monotonic" || len(r.Advice()) != 0 {
			t.Errorf("up to %g: %+v", hi, r.Advice())
		}
		if text, err := json.Marshal(r.Advice()); err != nil || string(text) != "[]" {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// If several runtimes were ranked, this program's own clocks are recommended. If there are none,
// the best clock of the other runtimes is.
func TestBestOfRuntimes(t *testing.T) {
	of := func(runtime, name string, quality float64) Rating {
		return Rating{Name: name, Runtime: runtime, Kind: clock.KindWall, Quality: stats.FloatOf(quality), Judgement: stats.NewJudgement()}
	}
	java, python := of("java", "java/a", 0.495), of("python", "python/b", 0.5)
	for _, c := range []struct {
		clocks []Rating
		want   string
	}{
		{[]Rating{python, java, of("go", "monotonic", 0.3), of("go", "monotonic-raw", 0.31)}, "monotonic"},
		{[]Rating{python, java}, "python/b"},
		{[]Rating{java}, "java/a"},
	} {
		if got := BestOf(c.clocks).Wall; got == nil || *got != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

// Six quick rankings once recommended the process's CPU time three times and the thread's three
// times, and for timestamps three times atomic time, which is 37 s ahead of UTC, whichever happened
// to have the better quality. A recommended clock must have the same meaning whatever the
// qualities.
func TestBestHasOneMeaning(t *testing.T) {
	var all []Rating
	add := func(c clock.Clock, quality float64) {
		c.Runtime = "go"
		r := described(c)
		r.Quality, r.Judgement = stats.FloatOf(quality), stats.NewJudgement()
		all = append(all, r)
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
	best := BestOf(all)
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
