package lateness_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"chronoscope/lateness"
	"chronoscope/stats"
)

// simulated is a timer whose lateness is drawn.
func simulated(name string, periodic bool, late func(i int) (ns float64, missed int)) lateness.Timer {
	return lateness.Timer{Name: name, Periodic: periodic, Waker: func(time.Duration) (lateness.Wake, func(), error) {
		i := 0
		return func(context.Context) (float64, int, error) {
			ns, missed := late(i)
			i++
			return ns, missed, nil
		}, func() {}, nil
	}}
}

func plan(wakes int) lateness.Plan {
	return lateness.Plan{Lengths: []time.Duration{time.Millisecond}, Wakes: wakes}
}

// An exponential lateness of mean 10 µs has its p99 at 46.1 µs and its p95 at 30 µs.
func TestLatenessOfAKnownDistribution(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	timer := simulated("exponential", true, func(int) (float64, int) { return 1e4 * random.ExpFloat64(), 0 })
	report, err := lateness.Measure(t.Context(), plan(8000), []lateness.Timer{timer})
	if err != nil || len(report.Timers) != 1 {
		t.Fatal(report, err)
	}
	r := report.Timers[0]
	for name, c := range map[string]struct{ got, want float64 }{
		"median": {r.Late.MedianNs.Value(), 1e4 * math.Ln2}, "p95": {r.Late.P95Ns.Value(), 1e4 * math.Log(20)}, "p99": {r.Late.P99Ns.Value(), 1e4 * math.Log(100)},
		"quality": {r.Quality.Value(), 1 / (1 + 0.01*math.Log(100))},
	} {
		if math.Abs(c.got/c.want-1) > 0.1 {
			t.Errorf("%s is %v, want %v", name, c.got, c.want)
		}
	}
	if r.Wakes != 8000 || r.Early != 0 || r.Missed != 0 || r.Verdict != stats.Trusted || !r.Drift.Covers(0) {
		t.Errorf("%+v", r)
	}
	if e := r.Percentiles.Percentiles[2]; !e.Covers(1e4 * math.Log(100)) {
		t.Errorf("%v", e)
	}
}

func TestLatenessFindsWhatIsWrong(t *testing.T) {
	broken := errors.New("it broke")
	for name, c := range map[string]struct {
		timer   lateness.Timer
		wakes   int
		verdict stats.Verdict
		reason  string
		holds   func(lateness.Result) bool
	}{
		"a drift of 50 ppm": {simulated("drifting", true, func(i int) (float64, int) { return 2e4 + 50*float64(i), 0 }), 800, stats.Trusted, "",
			func(r lateness.Result) bool { return math.Abs(r.DriftPPM.Value()-50) < 1 && r.Drift.Covers(50) }},
		"a loop that is late by 5 %": {simulated("re-armed", false, func(int) (float64, int) { return 5e4, 0 }), 400, stats.Trusted, "",
			func(r lateness.Result) bool { return math.Abs(r.DriftPPM.Value()-5e4) < 1 }},
		"early": {simulated("early", false, func(i int) (float64, int) { return 1e4 - 3e4*float64(i%2), 0 }), 400, stats.Suspect, "before it was due 200 of 400 times, by up to 20",
			func(r lateness.Result) bool { return r.Early == 200 && r.Late.MinNs.Value() == -2e4 }},
		"misses every second moment": {simulated("missing", true, func(int) (float64, int) { return 0, 1 }), 400, stats.Trusted, "",
			func(r lateness.Result) bool { return r.Missed == 400 && r.Quality.Value() == 0.5 }},
		"too few for p99": {simulated("few", false, func(int) (float64, int) { return 1, 0 }), 200, stats.Trusted, "",
			func(r lateness.Result) bool { return !r.Late.P99Ns.Known() && r.Late.P95Ns.Known() }},
		"too few": {simulated("few", false, func(int) (float64, int) { return 1, 0 }), 4, stats.Suspect, "4 wake-ups carry no median, which takes 6",
			func(r lateness.Result) bool { return !r.Late.MedianNs.Known() && r.Late.MaxNs.Known() }},
		"broken": {lateness.Timer{Name: "broken", Waker: func(time.Duration) (lateness.Wake, func(), error) { return nil, nil, broken }}, 400, stats.Unusable, "it broke",
			func(r lateness.Result) bool { return r.Wakes == 0 && !r.Late.MaxNs.Known() && !r.Quality.Known() }},
	} {
		report, err := lateness.Measure(t.Context(), plan(c.wakes), []lateness.Timer{c.timer})
		if err != nil {
			t.Fatal(err)
		}
		r := report.Timers[0]
		if r.Verdict != c.verdict || !strings.Contains(strings.Join(r.Reasons, "; "), c.reason) || !c.holds(r) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	// A timer that can't be asked for a length is left out at that length.
	coarse := simulated("coarse", false, func(int) (float64, int) { return 1, 0 })
	coarse.Unit = time.Second
	report, err := lateness.Measure(t.Context(), plan(4), []lateness.Timer{coarse})
	if err != nil || len(report.Timers) != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestLatenessInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	timer := simulated("a", false, func(int) (float64, int) {
		if n++; n == 150 {
			cancel()
		}
		return 1, 0
	})
	report, err := lateness.Measure(ctx, plan(400), []lateness.Timer{timer})
	if !errors.Is(err, context.Canceled) || len(report.Timers) != 1 || report.Timers[0].Wakes != 150 || report.Timers[0].Verdict != stats.Suspect {
		t.Errorf("%+v, %v", report, err)
	}
}

// A wait for a Timer or a Ticker ends with the context. One for a Timer went on for up to a minute.
func TestInterruptedWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, timer := range lateness.GoTimers()[1:] {
		wake, release, err := timer.Waker(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		ended := make(chan error, 1)
		go func() {
			_, _, err := wake(ctx)
			ended <- err
		}()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", timer.Name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it waits still", timer.Name)
		}
	}
}

func TestLatenessPlans(t *testing.T) {
	for _, p := range []lateness.Plan{{}, {Lengths: []time.Duration{time.Second}}, {Lengths: []time.Duration{time.Nanosecond}, Wakes: 400}, {Lengths: []time.Duration{time.Hour}, Wakes: 400}} {
		if _, err := lateness.Measure(t.Context(), p, nil); err == nil {
			t.Errorf("%+v was measured", p)
		}
	}
	if _, err := lateness.Measure(t.Context(), lateness.DefaultPlan, []lateness.Timer{{Name: "mine"}}); err == nil || !strings.Contains(err.Error(), `"mine"`) {
		t.Errorf("a timer without a Waker: %v", err)
	}
}

// All timers of this machine fire as often as they are asked to, and none before it is due.
func TestRealTimers(t *testing.T) {
	timers := append(lateness.GoTimers(), lateness.KernelTimers()...)
	if runtime.GOOS == "linux" && len(timers) < 8 {
		t.Errorf("%d timers", len(timers))
	}
	p := lateness.Plan{Lengths: []time.Duration{200 * time.Microsecond, time.Millisecond}, Wakes: 20}
	var shown []string
	p.Progress = func(share float64, timer string) {
		if share < 0 || share >= 1 {
			t.Errorf("progress %v", share)
		}
		shown = append(shown, timer)
	}
	report, err := lateness.Measure(t.Context(), p, timers)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Timers) != 2*len(timers)-coarse(timers) {
		t.Errorf("%d results of %d timers", len(report.Timers), len(timers))
	}
	for _, r := range report.Timers {
		if r.Wakes != 20 || r.Early > 0 || r.Verdict == stats.Unusable || !(r.Quality.Value() > 0 && r.Quality.Value() <= 1) {
			t.Errorf("%+v", r)
		}
	}
	if len(shown) == 0 {
		t.Error("no progress was shown")
	}
}

// coarse are the timers that can't be asked for the shorter length.
func coarse(timers []lateness.Timer) (n int) {
	for _, t := range timers {
		if t.Unit > 0 {
			n++
		}
	}
	return n
}
