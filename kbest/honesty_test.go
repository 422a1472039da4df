package kbest

import (
	"math"
	"runtime/debug"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// covering counts what the usable intervals of some cases hold, and the wrongly
// trusted.
func covering(t *testing.T, n int, measure func(seed uint64) measured) (usable, trusted, covered int) {
	t.Helper()
	all := make([]measured, n)
	parallel(n, func(i int) { all[i] = measure(uint64(i)) })
	for _, m := range all {
		if m.wronglyTrusted() {
			t.Errorf("wrongly trusted: seed %d: %.4g ns at load %d measured as %+v", m.seed, m.truth, m.load, m.result.Estimate)
		}
		switch m.result.Verdict {
		case stats.Unusable:
			continue
		case stats.Trusted:
			trusted++
		}
		usable++
		if m.result.Estimate.Covers(m.truth) {
			covered++
		}
	}
	t.Logf("%d: %d usable, %d trusted, %d covered", n, usable, trusted, covered)
	return usable, trusted, covered
}

// A kernel that leaves interrupts out of CPU time is noticed: nothing is taken off
// twice.
func TestInterruptsApart(t *testing.T) {
	usable, _, covered := covering(t, 200, func(seed uint64) measured {
		c := randomCase(seed)
		c.truthNs = 5e6 * math.Pow(40, float64(seed)/200)
		c.sharing.InterruptsApart = true
		return c.measure()
	})
	if usable < 190 || covered < atLeast(usable) {
		t.Errorf("%d of %d cover, want %d of 190", covered, usable, atLeast(usable))
	}
}

// Wider caches than a core's own make switches dear; the samples tell.
func TestDearSwitches(t *testing.T) {
	usable, _, covered := covering(t, 200, func(seed uint64) measured {
		c := randomCase(seed)
		c.truthNs = 20e6 * math.Pow(10, float64(seed)/200)
		c.load = 2
		c.sharing.Load, c.sharing.SliceNs, c.sharing.SliceJitter = 2, 3e6, 0.2
		c.sharing.ColdNs = clocktest.Jittered(150e3, 0.3)
		return c.measure()
	})
	if usable < 150 || covered < atLeast(usable) {
		t.Errorf("%d of %d cover", covered, usable)
	}
}

// A subject that sleeps takes no more trials than its time allows.
func TestSleeperEnds(t *testing.T) {
	s := quiet(12)
	from := s.machine.NowNs()
	r := measureOne(t, s, Subject{Run: func(n int) {
		for range n {
			s.machine.Run(1e3)
			s.scheduler.Block(100e6)
		}
	}})
	if took := s.machine.NowNs() - from; took > 2e9 || !r.Estimate.Covers(100e6+1e3) {
		t.Errorf("it took %.3g s, %d trials: %+v %v", took/1e9, r.Trials, r.Estimate, r.Judgement)
	}
	plan := DefaultPlan
	plan.CallLimit = 1e9
	calls := 0
	if _, err := s.station.Measure(background, plan, Subject{Run: func(int) { calls++; s.scheduler.Block(5e9) }}); err == nil || calls > 1 {
		t.Errorf("a call that sleeps beyond the limit: %v after %d calls", err, calls)
	}
}

// A core that is at another rate after nearly each sample has no rate to go by.
func TestRestlessCore(t *testing.T) {
	for seed := range uint64(100) {
		s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Speeds: []float64{1, 0.6}, SpeedDwellNs: 30e6}, 1, 10)
		if r := measureOne(t, s, s.work(60e6)); r.Verdict == stats.Trusted {
			t.Errorf("seed %d: %+v, rejected %v", seed, r.Estimate, r.Rejected)
		}
	}
}

// Work that takes longer and longer is no single figure.
func TestDrift(t *testing.T) {
	s := quiet(13)
	took := 5e6
	if r := measureOne(t, s, Subject{Run: func(n int) { took *= 1.003; s.machine.Run(took * float64(n)) }}); !says(r, "later samples") {
		t.Errorf("%+v %v", r.Estimate, r.Judgement)
	}
	if r := measureOne(t, s, s.work(5e6)); r.Verdict != stats.Trusted {
		t.Errorf("steady: %v", r.Judgement)
	}
}

// Figures that can't be are no samples.
func TestContradictions(t *testing.T) {
	s := quiet(14)
	use, looks := s.station.Use, 0
	s.station.Use = func() (machine.ThreadUse, error) {
		u, err := use()
		if looks++; looks > 200 && looks%10 == 0 {
			return machine.ThreadUse{}, errNothing
		}
		return u, err
	}
	if r := measureOne(t, s, s.work(1e6)); math.Abs(r.Estimate.Value/1e6-1) > 0.01 {
		t.Errorf("looks that fail: %+v %v rejected %v corrected %v", r.Estimate, r.Judgement, r.Rejected, r.Corrected)
	}
	s = quiet(15)
	s.station.Clock.AccuracyNs = 0
	if _, err := s.station.Measure(background, DefaultPlan, s.work(1e6)); err == nil {
		t.Error("a clock of no accuracy is taken")
	}
}

type constantError string

func (e constantError) Error() string { return string(e) }

const errNothing = constantError("nothing")

// Two stations at a time leave the collector as it was, whichever ends first.
func TestCollectorRestored(t *testing.T) {
	percent := debug.SetGCPercent(66)
	defer debug.SetGCPercent(percent)
	limit := debug.SetMemoryLimit(-1)
	first := new(Station).holdCollector()
	second := new(Station).holdCollector()
	first()
	second()
	if got := debug.SetGCPercent(66); got != 66 {
		t.Errorf("the collector is left at %d", got)
	}
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("the memory limit is left at %d", got)
	}
}

// A kernel that counts a little of each switch twice, as CPU time and as wait, is no
// contradiction.
func TestSwitchesCountedTwice(t *testing.T) {
	s := newSimulated(16, clocktest.Sharing{Load: 4, SliceNs: 3e6, SliceJitter: 0.2, LookNs: 1000, SwitchNs: clocktest.Constant(3e3)}, 1, 10)
	use := s.station.Use
	s.station.Use = func() (machine.ThreadUse, error) {
		u, err := use()
		u.WaitNs += 5000 * u.InvoluntarySwitches
		return u, err
	}
	if r := measureOne(t, s, s.work(30e6)); r.Rejected[Unclear] > 0 || !r.Estimate.Covers(30e6) {
		t.Errorf("%+v %v rejected %v", r.Estimate, r.Judgement, r.Rejected)
	}
}

// Nor is one that counts more of it twice, where that is little beside the work; where it is
// much, the sample tells nothing.
func TestSwitchesCountedTwiceForLonger(t *testing.T) {
	for twiceNs, want := range map[int64]bool{18e3: true, 400e3: false} {
		s := newSimulated(16, clocktest.Sharing{Load: 2, SliceNs: 9e6, SliceJitter: 0.2, LookNs: 1000, SwitchNs: clocktest.Constant(3e3)}, 1, 10)
		use := s.station.Use
		s.station.Use = func() (machine.ThreadUse, error) {
			u, err := use()
			u.WaitNs += twiceNs * u.InvoluntarySwitches
			return u, err
		}
		r := measureOne(t, s, s.work(10e6))
		if used := r.Rejected[Unclear] == 0; used != want || used && !r.Estimate.Covers(10e6) {
			t.Errorf("%d ns: %+v %v rejected %v", twiceNs, r.Estimate, r.Judgement, r.Rejected)
		}
	}
}
