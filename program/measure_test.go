package program

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chronoscope/process"
	"chronoscope/stats"
)

// measured is a command of which such runs are made, and what they show.
func measured(t *testing.T, run func(traced bool) Run) (*series, *Result) {
	t.Helper()
	s := &series{command: Command{Name: "fake"}}
	plan := Plan{Precision: 0.01, MinRuns: 6, MaxRuns: 6, MaxTime: time.Hour}
	m := measurement{plan: plan, setting: quiet, cpus: 1, rng: rand.New(rand.NewPCG(1, 1)), all: []*series{s}, checks: quiet.checks()}
	m.run = func(_ context.Context, _ Command, traced bool) (Run, error) {
		r := run(traced)
		r.CoreHz, r.StealNs, r.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
		if !traced {
			r.Untraced, r.Unnoted = errTimeout, errTimeout
		}
		return r, nil
	}
	if err := m.measure(background); err != nil {
		t.Fatal(err)
	}
	return s, conclude(s, plan, quiet, m.checks)
}

// A leak sanitizer, a debugger or sudo fails where it is traced, and that was taken for its
// doing: it is measured without.
func TestFailsOnlyWhereTraced(t *testing.T) {
	const always, whereTraced = 2, 1
	for _, fails := range []int{0, whereTraced, always} {
		traces := 0
		s, r := measured(t, func(traced bool) Run {
			run := alternating(2, 1*ms, 0)
			if traced {
				traces++
			}
			if fails == always || traced && fails == whereTraced {
				run.ExitCode = 1
			}
			return run
		})
		if (r.Failure != nil) != (fails == always) || traces != 1 {
			t.Errorf("%d: %v after %d traced runs", fails, r.Failure, traces)
		}
		if told := strings.Contains(r.Explanation, "fails where it is traced"); told != (fails == whereTraced) || s.someUnnoted != told && fails != always {
			t.Errorf("%d: %q", fails, r.Explanation)
		}
		for _, run := range r.Runs {
			if fails == whereTraced && (run.Failure() != nil || run.Rejected && !strings.Contains(strings.Join(run.Why, ""), "niceness")) {
				t.Errorf("a run that is none of those: %v, rejected %v", run.Failure(), run.Rejected)
			}
		}
	}
}

// joined works 1 ms and waits for a child, which works 1 ms, sleeps for 2, waits for a CPU
// after that, and works 3 ms: 7 ms without the wait. Of the child only a traced run tells how
// long it waited.
func joined(wokenNs int64, traced bool) Run {
	end := 7*ms + wokenNs
	r := process.Run{WallNs: end, UserNs: 5 * ms, WaitOf: process.FirstThread, Threads: []process.Thread{{ID: 1, CPUNs: 1 * ms, ReadNs: end}}, Events: []process.Event{
		{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 1 * ms, Kind: process.Forked, Thread: 2, Process: 2, Parent: 1}, {AtNs: 1 * ms, Kind: process.Blocked, Thread: 1, Process: 1},
		{AtNs: 1 * ms, Kind: process.SwitchedIn, Thread: 2, Process: 2}, {AtNs: 2 * ms, Kind: process.Blocked, Thread: 2, Process: 2},
		{AtNs: end - 3*ms, Kind: process.SwitchedIn, Thread: 2, Process: 2}, {AtNs: end, Kind: process.Exited, Thread: 2, Process: 2, Parent: 1},
		{AtNs: end, Kind: process.SwitchedIn, Thread: 1, Process: 1}, {AtNs: end, Kind: process.Exited, Thread: 1, Process: 1},
	}}
	if traced {
		r.WaitOf = process.AllThreads
		r.Threads = append(r.Threads, process.Thread{ID: 2, CPUNs: 4 * ms, WaitNs: wokenNs, ReadNs: end})
	}
	return Run{Run: r}
}

// Competitors come after the first run. That was the only one to tell of them, and the others
// were trusted to have waited no longer.
func TestLastRunIsTraced(t *testing.T) {
	for _, wokenNs := range []int64{0, 3 * ms} {
		var all []bool
		_, r := measured(t, func(traced bool) Run {
			all = append(all, traced)
			if len(all) == 1 {
				return joined(0, traced)
			}
			return joined(wokenNs, traced)
		})
		if n := len(all); n != 8 || !all[0] || !all[n-1] {
			t.Errorf("these runs were traced: %v", all)
		}
		if !r.Estimate.Covers(7*ms) || wokenNs == 0 && r.Estimate.Lo < 6.9*ms {
			t.Errorf("7 ms, and %d of waiting, are measured as %+v", wokenNs, r.Estimate)
		}
	}
	// One thread alone tells all in each of its runs.
	traces := 0
	measured(t, func(traced bool) Run {
		if traced {
			traces++
		}
		return alternating(2, 1*ms, 0)
	})
	if traces != 1 {
		t.Errorf("%d runs of one thread were traced", traces)
	}
}

// A first run that took seconds, since it was traced, was the only one, and its time was the
// result.
func TestTracedRunIsNoFigure(t *testing.T) {
	var s series
	traced := alternating(2, 1*ms, 0)
	traced.ExitCode = 1
	s.take(background, &traced, 1)
	s.runs = append(s.runs, traced)
	for _, failure := range []error{nil, &FailedError{Name: "fake", What: TheCommand, Err: errTimeout}} {
		s.failure = failure
		r := conclude(&s, Plan{Precision: 0.01, MaxRuns: 6}, quiet, quiet.checks())
		if !math.IsNaN(r.Estimate.Value) || !math.IsNaN(r.Wall.Value) || r.Verdict != stats.Unusable || len(r.Reasons) != 1 {
			t.Errorf("%+v, %+v, %s: %q", r.Estimate, r.Wall, r.Verdict, r.Reasons)
		}
		if strings.Contains(r.Reasons[0], "ignored") {
			t.Errorf("nobody asked to ignore failures: %q", r.Reasons)
		}
	}
	m := measurement{plan: Plan{MinRuns: 6, MaxRuns: 6, MaxTime: time.Second}}
	if s = (series{runs: []Run{traced}, spentNs: 10e9}); m.knows(&s) {
		t.Error("it is not run untraced")
	}
	if s.runs = append(s.runs, alternating(2, 1*ms, 0)); !m.knows(&s) {
		t.Error("it takes longer than it may")
	}
}

// A program whose system calls are too many to note was killed, and run again without that: a
// compiler, or what changes a database, in its middle. One traced run is all there is.
func TestNotingIsGivenUp(t *testing.T) {
	traces := 0
	s, _ := measured(t, func(traced bool) Run {
		run := alternating(2, 1*ms, 0)
		if traced {
			traces++
			run.Unnoted, run.Unclocked, run.Yields, run.TimedWaits = errTimeout, errTimeout, 3, 4
		}
		return run
	})
	if last := s.runs[len(s.runs)-1]; last.Yields != 0 || last.yields != 3 {
		t.Errorf("a run that was not traced is taken to yield %d times, 3 were seen", last.yields)
	}
	if traces != 1 || !s.someUnnoted || s.timedWaits != 4 {
		t.Errorf("%d traced runs, %+v", traces, s)
	}
}
