package meter

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"chronoscope/stats"
)

func saysLocked(r Report) bool {
	for _, reason := range r.Reasons {
		if strings.HasPrefix(reason, "phase lock") {
			return r.Verdict != stats.Trusted
		}
	}
	return false
}

// Timers whose period and the clock's tick have a common multiple, from one call in
// three ticks to twenty in one, are found by 95 in 100.
func TestPhaseLockIsFound(t *testing.T) {
	const cases = 1000
	found := 0
	for seed := range uint64(cases) {
		w := newWorld(seed, 1e6)
		m := New("locked", w.source())
		periods := []float64{3, 2, 1, 0.75, 0.5, 0.25, 0.2, 0.1, 0.05} // in ticks
		period := periods[w.rng.IntN(len(periods))]
		apart := min(period, 1) // between two places in the tick
		if period == 0.75 {
			apart = 0.25
		}
		lengthNs := (0.001 + 0.2*w.rng.Float64()) * apart * w.tickNs
		jitterNs := 0.3 * w.rng.Float64() * apart * w.tickNs
		w.keepTime(m, int(400+300/period), period*w.tickNs, jitterNs, around(lengthNs))
		if saysLocked(m.Snapshot().Report()) {
			found++
		}
	}
	t.Logf("%d of %d found", found, cases)
	if found < cases*95/100 {
		t.Errorf("%d of %d locked workloads were found", found, cases)
	}
}

// The reason names as many places as there are.
func TestPlacesOfPhaseLock(t *testing.T) {
	for _, places := range []int{1, 2, 4, 10} {
		w := newWorld(uint64(places), 1e6)
		m := New("locked", w.source())
		w.keepTime(m, 3000, w.tickNs/float64(places), 0, around(1000))
		p := part(m).Phases
		if found, ok := p.locked(); !ok || found.places != places {
			t.Errorf("%d places: %+v, %v", places, found, ok)
		}
	}
}

// Workloads that know nothing of the tick are taken for locked in 2 of 100 at most.
func TestPhaseLockFalseAlarms(t *testing.T) {
	const cases = 1000
	alarms := 0
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range cases {
		kind := []string{alike, varied, disturbed}[i%3]
		if saysLocked(draw(rng, kind, 1e-3, 3).run(rng.Uint64()).Report()) {
			alarms++
		}
	}
	t.Logf("%d of %d", alarms, cases)
	if alarms > cases*2/100 {
		t.Errorf("%d of %d workloads without phase lock were taken for locked", alarms, cases)
	}
}

// Timers whose period has no small multiple in common with the tick are not locked,
// and neither are bursts of calls.
func TestTimersAndBurstsAreNotLocked(t *testing.T) {
	const cases = 200
	alarms := 0
	for seed := range uint64(cases) {
		w := newWorld(seed, 1e6)
		m := New("free", w.source())
		if seed%2 == 0 {
			w.keepTime(m, 3000, 0.6180339887*w.tickNs, 0.1*w.tickNs, around(0.02*w.tickNs))
		} else {
			for range 200 { // bursts of 50 calls, within a tenth of a tick
				w.nowNs += w.tickNs * 5 * w.rng.ExpFloat64()
				w.keepBursting(m, 50, 0.002*w.tickNs)
			}
		}
		if saysLocked(m.Snapshot().Report()) {
			alarms++
		}
	}
	t.Logf("%d of %d", alarms, cases)
	if alarms > cases*2/100 {
		t.Errorf("%d of %d were taken for locked", alarms, cases)
	}
}

func (w *simulated) keepBursting(m *Meter, n int, lengthNs float64) {
	for range n {
		start := m.Start()
		w.nowNs += lengthNs
		m.Stop(start)
	}
}

// The finer clock is read at few calls, and the weights of these add up to all.
func TestFewCallsAreTimed(t *testing.T) {
	timed, weights := 0, 0.0
	for n := range uint64(1 << 20) {
		if w := weightOf(n).weight(); w > 0 {
			timed++
			weights += float64(w)
		}
	}
	if timed < 3400 || timed > 3770 { // 512, 256 for each of 9 doublings up to 262,144, and one in 1,024 of the rest: 3,584
		t.Errorf("%d of %d", timed, 1<<20)
	}
	if math.Abs(weights/(1<<20)-1) > 0.05 {
		t.Errorf("weights of %g for %d calls", weights, 1<<20)
	}
}
