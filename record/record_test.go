package record

import (
	"encoding/json"
	"math"
	"testing"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// rated is a rating of that name and quality.
func rated(name string, kind clock.Kind, quality float64, describe func(*timermeter.Rating)) timermeter.Rating {
	r := timermeter.Rating{Clock: clock.Clock{Name: name, Kind: kind}, Quality: quality, Judgement: stats.NewJudgement()}
	r.AccuracyCycles, r.CostCycles = math.NaN(), math.NaN()
	if describe != nil {
		describe(&r)
	}
	return r
}

// The most usual of the clocks that are tied with the best is recommended, none
// that is unusable or of quality 0, and none that can be set for intervals.
func TestBestClocks(t *testing.T) {
	r := NewRanking(&timermeter.Local{Ratings: []timermeter.Rating{
		rated("realtime", clock.KindWall, 0.60, func(r *timermeter.Rating) { r.Clock.Settable, r.Clock.Calendar = true, true }),
		rated("boottime", clock.KindWall, 0.505, nil),
		rated("monotonic", clock.KindWall, 0.50, nil),
		rated("go-time-now", clock.KindWall, 0.45, nil),
		rated("tsc", clock.KindCounter, 0.40, func(r *timermeter.Rating) { r.Lower(stats.Unusable, "steps back") }),
		rated("tscp", clock.KindCounter, 0.35, nil),
		rated("times", clock.KindCPU, 0, nil),
	}})
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

// What could not be had is null, and the document is valid JSON all the same.
func TestUnknownIsNull(t *testing.T) {
	r := NewRanking(&timermeter.Local{Ratings: []timermeter.Rating{rated("tsc", clock.KindCounter, math.NaN(), func(r *timermeter.Rating) {
		r.Accuracy = stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.Inf(1)}
		r.Cost.P99Ns = math.NaN()
	})}, Unavailable: []*clock.Unavailable{{Name: "tscp", Reason: clock.NoInstruction}}})
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

// Advice promises one percent from the length on at which accuracy and the
// variation of the cost together are one percent.
func TestAdvice(t *testing.T) {
	min, p95 := 20.0, 30.0
	a := adviceFor("wall", Clock{Name: "monotonic", Accuracy: stats.Estimate{Value: 10, Hi: 10}, Cost: Cost{MinNs: &min, P95Ns: &p95}})
	if a.FromNs != 2000 || a.ExpectedError != 0.01 || a.ToNs != nil {
		t.Errorf("%+v", a)
	}
}

// An accuracy whose interval is open leaves a report card that can be written, without
// advice on that clock.
func TestAdviceNeedsABound(t *testing.T) {
	for _, hi := range []float64{math.NaN(), math.Inf(1)} {
		r := NewRanking(&timermeter.Local{Ratings: []timermeter.Rating{rated("monotonic", clock.KindWall, 0.5, func(r *timermeter.Rating) {
			r.Clock.Runtime = "go"
			r.Accuracy = stats.Estimate{Value: 10, Lo: 5, Hi: hi}
		})}})
		c := NewCard(NewHeader("", &machine.Machine{}, 1), r)
		if *c.Best.Wall != "monotonic" || len(c.Advice) != 0 {
			t.Errorf("up to %g: %+v", hi, c.Advice)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Error(err)
		}
	}
}
