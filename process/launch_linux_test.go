package process

import "testing"

// A program of 100 µs is kept from its CPU for 30 µs by the thread that started it, just before its first instruction.
// That time is not the program's. What it lost later, to others, or before its exec stays as it was noted.
func TestTheLauncherTakesNothingFromTheProgram(t *testing.T) {
	const pid = 7
	event := func(us int64, kind EventKind, cpu int) Event {
		return Event{AtNs: us * 1e3, Kind: kind, CPU: cpu, Thread: pid, Process: pid}
	}
	seenAtUs := func(us int64, cpu int) started { return started{pid: pid, seenNs: 1e9 + us*1e3, cpu: cpu} }
	for _, c := range []struct {
		name       string
		p          started
		lost       int64 // when it lost its CPU, in µs since its exec
		traced     bool
		wallUs     int64
		waitUs     int64
		execUs     int64 // later than it was noted
		afterwards int   // events
	}{
		{"the launcher has its CPU", seenAtUs(75, 1), 70, false, 100, 20, 30, 4},
		{"the launcher runs on another CPU", seenAtUs(75, 0), 70, false, 130, 50, 0, 6},
		{"the launcher's CPU is unknown", seenAtUs(75, -1), 70, false, 130, 50, 0, 6},
		{"the program had begun", seenAtUs(65, 1), 70, false, 130, 50, 0, 6},
		{"the program had run for long", seenAtUs(1025, 1), 1020, false, 1080, 50, 0, 6},
		{"it is traced", seenAtUs(75, 1), 70, true, 130, 50, 0, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run{
				WallNs: (c.lost + 60) * 1e3, ExecNs: 1e9,
				Events: []Event{
					event(-40, Preempted, 0), event(-20, SwitchedIn, 0), event(0, Executed, 0),
					event(c.lost, Preempted, 1), event(c.lost+30, SwitchedIn, 1), event(c.lost+60, Exited, 1),
				},
				Threads:  []Thread{{ID: pid, WaitNs: 50e3, ReadNs: (c.lost + 70) * 1e3}},
				Untraced: errUnasked,
			}
			if c.traced {
				r.Untraced = nil
			}
			r.withoutLaunch(c.p)
			thread := r.Threads[0]
			if r.WallNs != c.wallUs*1e3 || thread.WaitNs != c.waitUs*1e3 || r.ExecNs != 1e9+c.execUs*1e3 || len(r.Events) != c.afterwards {
				t.Errorf("%+v, execNs %d, %d events", r, r.ExecNs, len(r.Events))
			}
			if last := r.Events[len(r.Events)-1]; last.AtNs != r.WallNs || thread.ReadNs != r.WallNs+10e3 || r.ExecNs+last.AtNs != 1e9+(c.lost+60)*1e3 {
				t.Errorf("the end was noted at %d ns, and seen at %d", last.AtNs, thread.ReadNs)
			}
			if r.Events[2].AtNs != 0 {
				t.Errorf("the exec was at %d ns", r.Events[2].AtNs)
			}
		})
	}
}
