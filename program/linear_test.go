package program

import (
	"context"
	"testing"

	"chronoscope/process"
)

// switchesOften are programs that switch often, in the given number of rounds, on two CPUs.
var switchesOften = map[string]func(rounds int) noted{
	"two processes hand over by pipes": func(rounds int) noted {
		e := begun().at(0.001, process.Forked, 2, 2, 1).at(0.001, process.SwitchedIn, 2, 2, 1)
		at := 0.01
		for range rounds {
			e = e.at(at, process.Blocked, 1, 1, 0).at(at+0.001, process.Blocked, 2, 2, 1).
				at(at+0.001, process.SwitchedIn, 1, 1, 0).at(at+0.005, process.SwitchedIn, 2, 2, 1)
			at += 0.01
		}
		return e.at(at, process.Exited, 2, 2, 1).at(at, process.Exited, 1, 1, 0)
	},
	"a process starts others in turn": func(rounds int) noted {
		e, at := begun(), 0.
		for id := 10; id < 10+rounds; id++ {
			at += 0.01
			e = e.at(at, process.Forked, id, id, 1).at(at, process.SwitchedIn, id, id, 1).at(at+0.001, process.Blocked, 1, 1, 0).
				at(at+0.005, process.Exited, id, id, 1).at(at+0.006, process.SwitchedIn, 1, 1, 0)
		}
		return e.at(at+1, process.Exited, 1, 1, 0)
	},
	"threads that all wait, and end in turn": func(rounds int) noted {
		e, at := begun(), 0.
		for id := 10; id < 10+rounds; id++ {
			at += 0.01
			e = e.at(at, process.Forked, id, 1, 1).at(at, process.SwitchedIn, id, 1, 1).at(at+0.001, process.Blocked, id, 1, 1)
		}
		for id := 10; id < 10+rounds; id++ {
			at += 0.01
			e = e.at(at, process.SwitchedIn, id, 1, 1).at(at+0.001, process.Exited, id, 1, 1)
		}
		return e.at(at+1, process.Exited, 1, 1, 0)
	},
}

// A program of 20,000 rounds through a pipe takes 0.2 s. The way through its schedule once took
// more than a minute: at each of its wakes all of the thread's spans were gone through. Twice
// as many rounds may take twice as many steps.
func TestStepsGrowWithTheEvents(t *testing.T) {
	for name, program := range switchesOften {
		steps := func(rounds int) (n int) {
			events := program(rounds)
			end := float64(events[len(events)-1].AtNs)
			r := events.run(end/ms, 0, process.Thread{ID: 1, WaitNs: 1 * ms, ReadNs: int64(end)})
			s := newSchedule(r.Events)
			if _, ok := s.follow(background, &r.Run, 2, 0); !ok {
				t.Fatalf("%s: it was not followed", name)
			}
			for _, l := range s.order {
				n += l.visited
			}
			return n
		}
		if once, twice := steps(500), steps(1000); twice > 2*once+100 {
			t.Errorf("%s: %d steps for 500 rounds, %d for 1000", name, once, twice)
		}
	}
}

// A million events took a second that nothing could interrupt.
func TestFollowingEndsWithItsContext(t *testing.T) {
	ended, end := context.WithCancel(background)
	end()
	for name, program := range switchesOften {
		events := program(500)
		r := events.run(float64(events[len(events)-1].AtNs)/ms, 0)
		if _, ok := follow(ended, &r.Run, 2, 0, wakeupEvents{}); ok {
			t.Errorf("%s: it was followed", name)
		}
	}
}

func BenchmarkFollow(b *testing.B) {
	for name, program := range switchesOften {
		b.Run(name, func(b *testing.B) {
			events := program(20e3)
			r := events.run(float64(events[len(events)-1].AtNs)/ms, 0)
			for b.Loop() {
				follow(background, &r.Run, 2, 0, wakeupEvents{})
			}
		})
	}
}
