package program

import (
	"context"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"chronoscope/env"
	"chronoscope/process"
)

// A run that was stopped together with this process had no time of its own: it does not count, and is no probe.
func TestStoppedRun(t *testing.T) {
	stop := exec.Command("sh", "-c", "sleep 0.05; kill -STOP $PPID; sleep 0.1; kill -CONT $PPID")
	c := shell("sleep 0.4")
	c.Started = func(int) { stop.Start() }
	run, err := Once(background, c, Setting{})
	if stop.Wait(); err != nil || !run.Rejected || !math.IsNaN(run.TimeNs()) || !strings.Contains(strings.Join(run.Why, ""), "was stopped while it ran") {
		t.Errorf("%+v, %v", run, err)
	}

	s := &series{}
	taken := Run{Run: process.Run{WallNs: 1e9, Continued: 1}}
	s.take(background, &taken, 1)
	if s.runs = append(s.runs, taken); s.probes != 0 || s.probed || s.counted() != 0 {
		t.Errorf("%+v", s)
	}
	if taken.takeOffDisturbance(env.Disturbance{}, 0, 0); !math.IsNaN(taken.LowNs) || !math.IsNaN(taken.HighNs) {
		t.Errorf("a time of %g to %g ns", taken.LowNs, taken.HighNs)
	}
}

// A process that is stopped, or gets SIGCONT, in each run ends all the same. 41 s after a limit of 6 s it had not.
func TestEachRunIsStopped(t *testing.T) {
	now, runs := time.Unix(0, 0), 0
	m := &measurement{cpus: 1, rng: rand.New(rand.NewPCG(1, 2)), plan: short, all: []*series{{command: shell("exit 0")}}, checks: &env.NoiseChecks{}}
	m.now = func() time.Time { return now }
	m.run = func(context.Context, Command, bool) (Run, error) {
		now, runs = now.Add(m.plan.MaxTime), runs+1
		return Run{Run: process.Run{WallNs: int64(m.plan.MaxTime), Continued: 1}}, nil
	}
	if err := m.measure(background); err != nil || runs != mostStopped {
		t.Errorf("%d runs, %v", runs, err)
	}
}

// A duet during which this process was stopped does not count.
func TestStoppedDuet(t *testing.T) {
	m := &measurement{cpus: 1, rng: rand.New(rand.NewPCG(1, 2)), plan: short, all: []*series{{command: shell("exit 0")}, {command: shell("exit 1")}}}
	m.duets.state, m.duets.cpus = madeDuets, []int{0}
	m.runTogether = func(context.Context, [2]Command) (runs [2]Run, errs [2]error) {
		runs[1].Continued, runs[1].ExitCode = 1, 1
		return runs, errs
	}
	if err := m.duet(background); err != nil || m.duets.failure != nil || m.duets.unnoted != 0 || len(m.duets.runs[0]) != 0 {
		t.Errorf("%v, %+v", err, m.duets)
	}
}
