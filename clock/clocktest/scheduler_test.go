package clocktest

import (
	"math"
	"testing"
)

// The expected wall time, CPU time, wait and switches of each case were computed by hand.
func TestSharing(t *testing.T) {
	const ranNs = 1e9
	for _, c := range []struct {
		name              string
		sharing           Sharing
		wallNs, cpuNs     float64
		waitNs            float64
		switches, withinN float64 // withinN is the tolerance as a share of wallNs
	}{
		{"alone", Sharing{}, 1e9, 1e9, 0, 0, 1e-9},
		// Each 4 ms of wall time include a tick of 4 µs.
		{"a tick", Sharing{Timers: []Timer{{PeriodNs: 4e6, Cost: Constant(4e3), Kernel: true}}},
			1e9 * 4e6 / (4e6 - 4e3), 1e9 * 4e6 / (4e6 - 4e3), 0, 0, 1e-5},
		{"interrupts", Sharing{Interrupts: []Arrivals{{PerSecond: 1e4, Length: Constant(1e4)}}},
			1.1e9, 1.1e9, 0, 0, 5e-3},
		{"steal that the kernel knows", Sharing{Stolen: Arrivals{PerSecond: 1e4, Length: Constant(1e4)}, StealKnown: true},
			1.1e9, 1e9, 0, 0, 5e-3},
		{"steal that it does not know", Sharing{Stolen: Arrivals{PerSecond: 1e4, Length: Constant(1e4)}},
			1.1e9, 1.1e9, 0, 0, 5e-3},
		// The thread gets 333 slices of 3 ms. After each come ten others' slices and a switch.
		{"ten competitors", Sharing{Load: 11, SliceNs: 3e6, SwitchNs: Constant(3e3), ColdNs: Constant(7e3)},
			1e9 + 333*30e6 + 333*1e4, 1e9 + 333*1e4, 333 * 30e6, 333, 2e-3},
		// A slice of 3 ms ends at the next tick, after 4 ms.
		{"slices that end at ticks", Sharing{Load: 11, SliceNs: 3e6, AtTicks: true, Timers: []Timer{{PeriodNs: 4e6, Cost: Constant(0), Kernel: true}}},
			1e9 + 249*40e6, 1e9, 249 * 40e6, 249, 5e-3},
		{"half speed", Sharing{Speeds: []float64{0.5}, SpeedDwellNs: 1e8}, 2e9, 2e9, 0, 0, 1e-9},
	} {
		m := NewMachine(1)
		s := Share(m, c.sharing)
		for range 1000 {
			m.Run(ranNs / 1000)
		}
		use, err := s.Use()
		if err != nil {
			t.Fatal(err)
		}
		within := c.withinN * c.wallNs
		if math.Abs(m.NowNs()-c.wallNs) > within || math.Abs(float64(use.CPUNs)-c.cpuNs) > within ||
			math.Abs(float64(use.WaitNs)-c.waitNs) > within || math.Abs(float64(use.InvoluntarySwitches)-c.switches) > 2 {
			t.Errorf("%s: wall %.6g ms, %+v; want wall %.6g ms, CPU %.6g, wait %.6g, %v switches",
				c.name, m.NowNs()/1e6, use, c.wallNs/1e6, c.cpuNs/1e6, c.waitNs/1e6, c.switches)
		}
	}
}

// The gaps that Watch is called with add up to the lost time, and the same seed gives the same
// gaps.
func TestWatchedGapsAddUp(t *testing.T) {
	measure := func() (wall, lost float64) {
		m := NewMachine(3)
		var gaps float64
		Share(m, Sharing{
			Load: 4, SliceNs: 3e6, SliceJitter: 0.3, SwitchNs: Above(1e3, 1e3, 0.5),
			Timers:     []Timer{{PeriodNs: 1e6, PhaseNs: 3e5, Cost: Above(2e3, 1e3, 0.5)}, {PeriodNs: 4e6, Cost: Above(2e3, 1e3, 0.5), Kernel: true}},
			Interrupts: []Arrivals{{PerSecond: 500, Length: Above(1e3, 1e3, 1)}},
			Stolen:     Arrivals{PerSecond: 10, Length: Above(1e5, 1e5, 1)},
			Watch:      func(g Gap) { gaps += g.Ns },
		})
		m.Run(1e9)
		return m.NowNs(), gaps
	}
	wall, lost := measure()
	if math.Abs(wall-lost-1e9) > 1 {
		t.Errorf("%v ns of wall time less gaps of %v, want 1e9", wall, lost)
	}
	if again, _ := measure(); again != wall {
		t.Errorf("the same seed took %v and %v ns", wall, again)
	}
}

// A sleep counts as a voluntary switch, and a major fault as a voluntary switch and a major
// fault. After a migration the thread is on another CPU.
func TestBlockingFaultsAndMigrations(t *testing.T) {
	m := NewMachine(1)
	s := Share(m, Sharing{Load: 2, SliceNs: 1e6, MigrationsPerSecond: 1000})
	s.Block(1e6)
	s.Fault(1e6, true)
	s.Fault(1e3, false)
	before, _ := s.Use()
	if before.VoluntarySwitches != 2 || before.MajorFaults != 1 || before.MinorFaults != 1 || before.CPUNs != 1000 || before.WaitNs == 0 {
		t.Errorf("%+v", before)
	}
	moved := 0
	for last := before.CPU; m.NowNs() < 1e9; {
		m.Run(1e5)
		if use, _ := s.Use(); use.CPU != last {
			moved++
			last = use.CPU
		}
	}
	if moved < 250 {
		t.Errorf("%d moves seen in some half a second at 1,000 a second", moved)
	}
}
