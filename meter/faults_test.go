package meter

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// byHand is a clock that the test moves, with a fine clock beside it.
type byHand struct {
	reading, fineNs int64
	bits            int
}

func (c *byHand) meter(t *testing.T) *Meter {
	t.Helper()
	source, err := Own{Name: "by-hand", Read: func() int64 { return c.reading }, Tick: time.Millisecond, Bits: c.bits, Unbiased: "the test moves it"}.Source()
	if err != nil {
		t.Fatal(err)
	}
	source.costNs, source.fine = &stats.Estimate{Unit: "ns"}, func() int64 { return c.fineNs }
	return New("faults", source)
}

// pass lets ticks go by on both clocks.
func (c *byHand) pass(ticks int64) {
	c.reading += ticks
	c.fineNs += ticks * 1e6
}

// call is a call that lasts the given number of ticks.
func (c *byHand) call(m *Meter, ticks int64) {
	start := m.Start()
	c.pass(ticks)
	m.Stop(start)
}

func part(m *Meter) Part { return m.Snapshot().Parts[0] }

func wantReason(t *testing.T, m *Meter, verdict stats.Verdict, reason string) {
	t.Helper()
	r := m.Snapshot().Report()
	if butForWidth(r.Judgement) != verdict || !strings.Contains(strings.Join(r.Reasons, "; "), reason) {
		t.Errorf("%s %q, want %s, since %q", r.Verdict, r.Reasons, verdict, reason)
	}
}

// butForWidth is the verdict without what the width of the interval adds, which the length of a
// simulated measurement decides.
func butForWidth(j stats.Judgement) stats.Verdict {
	if !slices.ContainsFunc(j.Reasons, ofWidth) {
		return j.Verdict
	}
	if len(j.Reasons) == 1 {
		return stats.Trusted
	}
	return stats.Suspect // no width is judged of what is unusable otherwise
}

func ofWidth(reason string) bool {
	return strings.HasPrefix(reason, "the interval is ±") || strings.HasPrefix(reason, "it has no interval")
}

func TestCountsOfOrdinaryCalls(t *testing.T) {
	c := &byHand{reading: -5}
	m := c.meter(t)
	for i := range 100 {
		c.call(m, int64(i%10/8)*3) // two of ten take 3 ticks
		c.pass(7)
	}
	p := part(m)
	if p.Calls != 100 || p.Measured != 100 || p.Edges != 20 || p.Ticks != 60 || p.Squares != 180 {
		t.Errorf("%+v", p)
	}
	if mean := p.MeanNs(); mean.Value != 0.6e6 {
		t.Errorf("a mean of %v ns, want 600,000", mean.Value)
	}
}

func TestStopWithoutStart(t *testing.T) {
	c := &byHand{}
	m, other := c.meter(t), c.meter(t)
	m.Stop(Start{})
	start := other.Start()
	c.pass(5)
	m.Stop(start)
	if p := part(m); p.Faults.Foreign != 2 || p.Calls != 0 || p.Ticks != 0 {
		t.Errorf("%+v", p)
	}
	wantReason(t, m, stats.Unusable, "2 times Stop was called")
}

// A start that is stopped twice is two calls.
func TestStopTwice(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	start := m.Start()
	c.pass(1)
	m.Stop(start)
	c.pass(1)
	m.Stop(start)
	if p := part(m); p.Calls != 2 || p.Ticks != 3 || p.Squares != 5 {
		t.Errorf("%+v", p)
	}
}

func TestClockGoesBack(t *testing.T) {
	c := &byHand{reading: 100}
	m := c.meter(t)
	c.call(m, 1)
	c.call(m, -3)
	if p := part(m); p.Faults.Backward != 1 || p.Calls != 1 || p.Ticks != 1 {
		t.Errorf("%+v", p)
	}
	wantReason(t, m, stats.Suspect, "went back")
}

// A clock that is set, as the realtime clock may be, leaves out all calls that were in
// progress, and no other.
func TestClockIsSet(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	c.call(m, 1)
	first, second := m.Start(), m.Start()
	c.reading += 3_600_000 // an hour
	c.pass(2)
	m.Stop(first)
	m.Stop(second)
	c.call(m, 1)
	p := part(m)
	if p.Faults.Steps != 1 || p.Faults.Stepped != 2 || p.Calls != 2 || p.Ticks != 2 {
		t.Errorf("%+v", p)
	}
	wantReason(t, m, stats.Suspect, "was set 1 time(s), and 2 calls in progress")
}

// Readings of few bits wrap within calls and between.
func TestReadingsWrap(t *testing.T) {
	for _, bits := range []int{2, 8, 24, 32, 63, 64} {
		c := &byHand{bits: bits}
		c.reading = math.MaxInt64>>(64-bits) - 1
		m := c.meter(t)
		for range 20 {
			c.call(m, 1)
			c.reading = c.reading << (64 - bits) >> (64 - bits)
		}
		if p := part(m); p.Ticks != 20 || p.Faults != (Faults{}) {
			t.Errorf("%d bits: %d ticks of 20, %+v", bits, p.Ticks, p.Faults)
		}
	}
}

// A starved ticker falls behind Go's monotonic clock.
func TestStarvedClock(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	for range 500 {
		c.call(m, 1)
		c.pass(1)
		c.fineNs += 1e6 // the ticker missed one in three
	}
	c.fineNs += 1e6
	wantReason(t, m, stats.Suspect, "ran at 0.66")
}

// A clock that is finer than it was said to be would count short calls as none.
func TestClockIsFinerThanSaid(t *testing.T) {
	w := newWorld(3, 1e6)
	fine := w.source()
	fine.clock = clock.New(clock.Clock{Name: "fine"}, func() int64 { return int64(w.nowNs) })
	m := New("fine", fine)
	w.run(m, 1000, &worker{call: constant(3e5), pause: exponential(1e6)})
	wantReason(t, m, stats.Unusable, "its tick is another")
}

func TestFewEdgesBoundTheMeanOnly(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	for range 1000 {
		c.call(m, 0)
	}
	r := m.Snapshot().Report()
	// Wilson's upper bound for 0 of 1,000 is z^2/(n+z^2), by hand 0.0038268.
	if r.Mean.Value != 0 || r.Mean.Lo != 0 || math.Abs(r.Mean.Hi-3826.8) > 1 {
		t.Errorf("%+v", r.Mean)
	}
	wantReason(t, m, stats.Suspect, "0 of 1000 calls saw an edge")
	wantReason(t, c.meter(t), stats.Unusable, "no call was measured")
}

func TestCounterRefuses(t *testing.T) {
	good := clock.New(clock.Clock{Name: "c", Scope: clock.ScopeMachine}, func() int64 { return 0 })
	thread := clock.New(clock.Clock{Name: "t", Scope: clock.ScopeThread}, func() int64 { return 0 })
	tick := stats.Estimate{Value: 0.4}
	for name, rated := range map[string]clock.Rated{
		"no clock": {TickNs: tick}, "no tick": {Clock: good}, "of a thread": {Clock: thread, TickNs: tick},
		"no number": {Clock: good, TickNs: stats.Estimate{Value: math.NaN()}},
	} {
		if _, err := Counter(rated); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Counter(clock.Rated{Clock: good, TickNs: tick}); err != nil {
		t.Error(err)
	}
}

// A clock that is set back leaves out the calls in progress, and none of those that
// come after, though they see readings that were there before.
func TestClockIsSetBack(t *testing.T) {
	c := &byHand{reading: 10_000_000}
	m := c.meter(t)
	c.call(m, 1)
	start := m.Start()
	c.reading -= 3_600_000 // an hour
	c.pass(2)
	m.Stop(start)
	for range 10 {
		c.call(m, 1)
		c.pass(1)
	}
	p := part(m)
	if p.Faults.Steps != 1 || p.Faults.Backward != 1 || p.Faults.Stepped != 0 || p.Calls != 11 || p.Ticks != 11 {
		t.Errorf("%+v", p)
	}
}

// A clock that wraps while nobody calls was not set.
func TestReadingsWrapBetweenCalls(t *testing.T) {
	c := &byHand{bits: 8}
	m := c.meter(t)
	for range 20 {
		c.call(m, 1)
		c.pass(10_000)
		c.reading = c.reading << 56 >> 56
	}
	if p := part(m); p.Ticks != 20 || p.Calls != 20 || p.Faults != (Faults{}) {
		t.Errorf("%d ticks of 20, %d calls, %+v", p.Ticks, p.Calls, p.Faults)
	}
}

// A call that ends while another one finds out that the clock was set waits for what
// comes of it.
func TestClockIsSetDuringManyCalls(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	c.call(m, 1)
	first, second := m.Start(), m.Start()
	c.reading += 3_600_000
	inLook, resume := make(chan struct{}), make(chan struct{})
	var once sync.Once
	m.source.fine = func() int64 {
		once.Do(func() { close(inLook); <-resume })
		return c.fineNs
	}
	var all sync.WaitGroup
	all.Go(func() { m.Stop(first) })
	<-inLook
	all.Go(func() { m.Stop(second) })
	time.Sleep(20 * time.Millisecond)
	close(resume)
	all.Wait()
	if p := part(m); p.Faults.Stepped != 2 || p.Ticks != 1 {
		t.Errorf("%d ticks of 1, %+v", p.Ticks, p.Faults)
	}
}

// Sums that do not fit stay at the greatest number in a meter too.
func TestCountsThatDoNotFit(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	c.call(m, 1<<32)
	c.call(m, 1<<20)
	if p := part(m); p.Squares != math.MaxUint64 {
		t.Errorf("%+v", p)
	}
	many := Snapshot{Name: "x", Parts: []Part{
		{Clock: "a", TickNs: 1, Calls: math.MaxUint64, Measured: 10, Edges: 1, Ticks: 1, Squares: 1},
		{Clock: "b", TickNs: 1, Calls: 10, Measured: 10, Edges: 1, Ticks: 1, Squares: 1},
	}}
	if r := many.Report(); r.Calls != math.MaxUint64 {
		t.Errorf("%d calls", r.Calls)
	}
}

// Ten calls that saw one edge together are one look at the clock.
func TestEdgesSeenTogetherAreFew(t *testing.T) {
	c := &byHand{}
	m := c.meter(t)
	for range 3 {
		var starts []Start
		for range 10 {
			starts = append(starts, m.Start())
		}
		c.pass(1)
		for _, s := range starts {
			m.Stop(s)
		}
		c.pass(3)
	}
	wantReason(t, m, stats.Suspect, "30 calls that saw an edge of by-hand saw 3 different ones")
}
