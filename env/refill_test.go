package env

import (
	"testing"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// A pass takes 16 µs, and right after a preemption 20, or 100 where the other program swept the caches.
func TestRefill(t *testing.T) {
	for _, c := range []struct {
		afterNs, want, coldOfTwiceNs float64
	}{{20e3, 0, machine.ColdNs}, {100e3, 100e3 - 1.5*16e3, machine.ColdNs + 2.25*(100e3-1.5*16e3)}} {
		var now int64
		var reads int
		took := []int64{16e3, int64(c.afterNs), 16e3, int64(c.afterNs), 16e3} // the first is to get the data
		read := func() int64 {
			if reads++; reads%2 == 0 {
				now += took[reads/2-1]
			}
			return now
		}
		r := newRefill(clock.Rated{Clock: clock.New(clock.Clock{}, read), TickNs: stats.Estimate{Value: 1}})
		r.measure()
		r.measure()
		n := machine.Noise{RefillNs: r.ns(), Refills: 5}
		if few := (machine.Noise{RefillNs: r.ns(), Refills: len(r.tookNs)}); few.MostColdNs(2*machine.RefilledBytes) != machine.ColdNs {
			t.Errorf("two preemptions tell: %+v", few)
		}
		if n.RefillNs != c.want || n.MostColdNs(2*machine.RefilledBytes) != c.coldOfTwiceNs || n.MostColdNs(0) > c.coldOfTwiceNs {
			t.Errorf("after %g ns: %g and %g ns, want %g and %g", c.afterNs, n.RefillNs, n.MostColdNs(2*machine.RefilledBytes), c.want, c.coldOfTwiceNs)
		}
	}
	if n := (machine.Noise{RefillNs: newRefill(clock.Rated{Clock: clock.New(clock.Clock{}, func() int64 { return 0 })}).ns()}); n.MostColdNs(1e9) != machine.ColdNs {
		t.Errorf("without a preemption: %g", n.MostColdNs(1e9))
	}
}
