package clock

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// oscillator simulates a counter of known rate and a reference.
type oscillator struct {
	hz             float64 // the counter's mean rate over the span
	driftPPM       float64 // how much the rate changes from the start of the span to its end
	spanNs         float64
	latencyNs      float64 // the least time that a reading of the reference takes
	jitterNs       float64
	interruptShare float64 // the share of the sandwiches that are interrupted
	referenceStep  int64   // ns
	counterStep    int64   // ticks
}

// counterAt returns the counter's reading at a time: the integral of its rate.
func (o oscillator) counterAt(ns float64) int64 {
	x := ns / o.spanNs
	ticks := o.hz / 1e9 * (ns + o.spanNs*o.driftPPM/1e6*(x*x-x)/2)
	return 1_000_000_007 + int64(math.Floor(ticks/float64(o.counterStep)))*o.counterStep
}

func (o oscillator) referenceAt(ns float64) int64 {
	return 77_777 + int64(math.Floor(ns/float64(o.referenceStep)))*o.referenceStep
}

// sandwiches takes bursts of sandwiches over the span, as a calibration does.
func (o oscillator) sandwiches(r *rand.Rand, bursts, size int) []Sandwich {
	var taken []Sandwich
	for burst := range bursts {
		now := o.spanNs * float64(burst) / float64(bursts-1)
		for range size {
			s := Sandwich{Before: o.referenceAt(now)}
			now += o.latency(r)
			s.Counter = o.counterAt(now)
			now += o.latency(r)
			s.After = o.referenceAt(now)
			taken = append(taken, s)
		}
	}
	return taken
}

func (o oscillator) latency(r *rand.Rand) float64 {
	ns := o.latencyNs/2 + r.ExpFloat64()*o.jitterNs
	if r.Float64() < o.interruptShare/2 {
		ns += 1000 + r.ExpFloat64()*20_000
	}
	return ns
}

func someOscillator(r *rand.Rand) oscillator {
	pick := func(from ...int64) int64 { return from[r.IntN(len(from))] }
	return oscillator{
		hz:             math.Pow(10, 6+r.Float64()*3.7),
		driftPPM:       (r.Float64() - 0.5) * 0.4,
		spanNs:         float64(pick(10e6, 100e6, 1e9)),
		latencyNs:      20 + 60*r.Float64(),
		jitterNs:       10 * r.Float64(),
		interruptShare: 0.6 * r.Float64(),
		referenceStep:  pick(1, 1, 1, 10, 41),
		counterStep:    pick(1, 1, 2, 26),
	}
}

// A correct method has 940 of 1,000 intervals or more hold the truth, nearly always. The interval
// must also be narrow: at most five times the sum of a sandwich's width and the clocks' steps,
// divided by the span.
func TestFitRateCoversTheTruth(t *testing.T) {
	const cells = 1000
	covered := 0
	for seed := range uint64(cells) {
		r := rand.New(rand.NewPCG(seed, 2))
		o := someOscillator(r)
		rate, err := FitRate(o.sandwiches(r, 32, 48), 1)
		if err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, o, err)
		}
		if rate.Hz.Covers(o.hz) {
			covered++
		}
		blurNs := o.latencyNs + 2*o.jitterNs + float64(o.referenceStep) + float64(o.counterStep)/o.hz*1e9
		if limit := 1e6 * 5 * blurNs / o.spanNs; rate.PPM() > limit {
			t.Errorf("seed %d, %+v: the interval is %g ppm to each side, over %g", seed, o, rate.PPM(), limit)
		}
	}
	if covered < 940 {
		t.Errorf("%d of %d intervals cover the truth", covered, cells)
	}
	t.Logf("%d of %d intervals cover the truth", covered, cells)
}

func TestFitRateOfATenthOfASecondIsWithinFivePPM(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		o := someOscillator(r)
		o.spanNs, o.hz, o.referenceStep = 100e6, 1e9+4e9*r.Float64(), 1
		rate, err := FitRate(o.sandwiches(r, 32, 48), 1)
		if err != nil {
			t.Fatal(err)
		}
		if off := 1e6 * math.Abs(rate.Hz.Value/o.hz-1); off > 5 || rate.PPM() > 5 {
			t.Errorf("seed %d, %+v: off by %g ppm, interval %g", seed, o, off, rate.PPM())
		}
	}
}

// If all readings early in the span lie at the start of their sandwiches and all late ones at
// the end, the scatter does not show it, but the interval must cover it.
func TestFitRateBoundsWhatTheScatterHides(t *testing.T) {
	const hz, spanNs, widthNs = 2.5e9, 100_000_000, 400
	var sandwiches []Sandwich
	for i := range int64(2000) {
		at := i * spanNs / 1999
		inside := int64(0)
		if i >= 1000 {
			inside = widthNs
		}
		sandwiches = append(sandwiches, Sandwich{Before: at, Counter: int64(2.5 * float64(at+inside)), After: at + widthNs})
	}
	rate, err := FitRate(sandwiches, 1)
	if err != nil {
		t.Fatal(err)
	}
	if off := 1e6 * (rate.Hz.Value/hz - 1); off < 3 || !rate.Hz.Covers(hz) {
		t.Errorf("off by %g ppm with an interval of %g ppm to each side", off, rate.PPM())
	}
}

func TestFitRateTakesAnyUnitOfTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		o := someOscillator(r)
		o.driftPPM = 0
		sandwiches := o.sandwiches(r, 32, 8)
		nanoseconds, err := FitRate(sandwiches, 1)
		if err != nil {
			t.Fatal(err)
		}
		halves, err := FitRate(sandwiches, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := halves.Hz.Value / nanoseconds.Hz.Value; math.Abs(ratio-2) > 1e-9 {
			t.Fatalf("half the unit gives %g times the rate", ratio)
		}
	})
}

func TestFitRateRefusesWhatIsNoCalibration(t *testing.T) {
	repeat := func(n int, make func(i int64) Sandwich) (s []Sandwich) {
		for i := range int64(n) {
			s = append(s, make(i))
		}
		return s
	}
	cases := map[string]struct {
		sandwiches []Sandwich
		message    string
	}{
		"nothing":           {nil, "there are 0"},
		"too few":           {repeat(5, func(i int64) Sandwich { return Sandwich{1000 * i, i, 1000*i + 10} }), "there are 5"},
		"backward":          {repeat(50, func(i int64) Sandwich { return Sandwich{10 + i, i, i} }), "there are 0"},
		"constant counter":  {repeat(50, func(i int64) Sandwich { return Sandwich{1000 * i, 7, 1000*i + 10} }), "does not advance"},
		"backward counter":  {repeat(50, func(i int64) Sandwich { return Sandwich{1000 * i, -i, 1000*i + 10} }), "does not advance"},
		"constant readings": {repeat(50, func(i int64) Sandwich { return Sandwich{5, 5, 5} }), "no line"},
	}
	for name, c := range cases {
		if _, err := FitRate(c.sandwiches, 1); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.message)
		}
	}
}

// The counter is the reference itself times a factor, so that its rate is known on any machine.
func TestCalibrateFindsAKnownRate(t *testing.T) {
	reference, err := Open("go-time-now")
	if err != nil {
		t.Fatal(err)
	}
	counter := New(Clock{Name: "scaled", Kind: KindCounter}, func() int64 { return reference.Read() * 5 / 2 })
	rate, err := Calibrate(context.Background(), counter, reference, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if !rate.Hz.Covers(2.5e9) || rate.Hz.Unit != "Hz" || rate.Reference != "go-time-now" {
		t.Errorf("the rate is %+v, want 2.5e9", rate)
	}
	if got := rate.Ns(2_500_000); got < 990_000 || got > 1_010_000 {
		t.Errorf("2,500,000 ticks are %d ns", got)
	}
}

func TestCalibrateEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := New(Clock{Name: "scaled"}, func() int64 { return int64(time.Since(epoch)) })
	if _, err := Calibrate(ctx, c, nil, time.Hour); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("the error is %v", err)
	}
}

func TestCalibrateNamesTheCounterThatStands(t *testing.T) {
	c := New(Clock{Name: "standing"}, func() int64 { return 5 })
	_, err := Calibrate(context.Background(), c, nil, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "standing") {
		t.Errorf("the error is %v", err)
	}
}
