package program

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chronoscope/process"
	"chronoscope/stats"
)

var background = context.Background()

func shell(script string) Command {
	return Command{Name: script, Command: process.Command{Path: "sh", Args: []string{"-c", script}}}
}

var short = Plan{Precision: 0.5, MinRuns: 3, MaxRuns: 6, MaxTime: time.Minute}

// A parent works 1 ms, starts a child and waits; the child is kept for 5 ms before it
// gets a CPU, works 2 ms, loses it for 10 ms and works 3 ms; the parent ends at once. By
// hand: 1 + 2 + 3 ms, and a start that may take as long as a CPU takes to be told.
func TestTrajectoryOfAChild(t *testing.T) {
	const ms = 1e6
	r := process.Run{WallNs: 21 * ms, WaitOf: process.FirstThread, Threads: []process.Thread{{ID: 1, CPUNs: 1 * ms, ReadNs: 21 * ms}}, Events: []process.Event{
		{AtNs: -1, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 0, Kind: process.Executed, Thread: 1, Process: 1},
		{AtNs: 1 * ms, Kind: process.Forked, Thread: 2, Process: 2, Parent: 1},
		{AtNs: 1 * ms, Kind: process.Blocked, Thread: 1, Process: 1},
		{AtNs: 6 * ms, Kind: process.SwitchedIn, Thread: 2, Process: 2},
		{AtNs: 8 * ms, Kind: process.Preempted, Thread: 2, Process: 2},
		{AtNs: 18 * ms, Kind: process.SwitchedIn, Thread: 2, Process: 2},
		{AtNs: 21 * ms, Kind: process.Exited, Thread: 2, Process: 2, Parent: 1},
		{AtNs: 21 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 21 * ms, Kind: process.Exited, Thread: 1, Process: 1},
	}}
	got, ok := follow(background, &r, 1, 0, wakeupEvents{})
	if !ok || got.low.atNs != 6*ms || got.high.atNs != 6*ms+wakeLatencyNs || !got.high.own || got.deficientNs != 15*ms {
		t.Errorf("%+v", got)
	}
	r.LostEvents = 1
	if _, ok := follow(background, &r, 1, 0, wakeupEvents{}); ok {
		t.Error("events are missing, and the rest is believed")
	}
	// Inherited events are not those of other programs, but a traced run does not count by its accounts either.
	s := series{probed: true}
	traced := Run{Run: r}
	traced.InheritNs = 1
	if s.take(background, &traced, 1); !traced.Rejected {
		t.Error("a traced run counts because events of it are missing")
	}
}

// A thread blocks 1 ms before its exec, works 2 ms, sleeps for 10, works 1 ms and exits. It is
// read 4 ms later, half a millisecond after its end at most. Of the 6.4 ms that it waited for
// a CPU, up to 4 ms were after its exit, and up to 1 ms before its exec; and 3.3 ms at least
// after its exit, where it may have worked for 0.2 ms.
func TestWaitAfterTheExit(t *testing.T) {
	const ms = 1e6
	r := process.Run{WallNs: 13 * ms, WaitOf: process.FirstThread, Threads: []process.Thread{{ID: 1, CPUNs: 5 * ms, WaitNs: 6.4 * ms, ReadNs: 17 * ms, LateNs: 0.5 * ms}}, Events: []process.Event{
		{AtNs: -3 * ms, Kind: process.Blocked, Thread: 1, Process: 1},
		{AtNs: -2 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 0, Kind: process.Executed, Thread: 1, Process: 1},
		{AtNs: 2 * ms, Kind: process.Blocked, Thread: 1, Process: 1},
		{AtNs: 12 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 13 * ms, Kind: process.Exited, Thread: 1, Process: 1},
	}}
	got, ok := follow(background, &r, 1, 0, wakeupEvents{})
	want := wait{6.4*ms - 4*ms - 1*ms, 6.4*ms - (4-0.2-0.5)*ms}
	if !ok || math.Abs(got.leaderWake.lowNs-want.lowNs) > 1 || math.Abs(got.leaderWake.highNs-want.highNs) > 1 {
		t.Errorf("%+v, want %+v", got.leaderWake, want)
	}
	if low, high := 13*ms-want.highNs, 13*ms-want.lowNs+wakeLatencyNs; math.Abs(got.low.atNs-low) > 1 || math.Abs(got.high.atNs-high) > 1 {
		t.Errorf("%+v, want %v to %v", got, low, high)
	}
}

// A thread works 2 ms, is kept for 5, works 1, sleeps for 4 and works 3: the sleep may
// have been to a deadline. By hand: 10 ms without the wait, 15 with it.
func TestTrajectoryOfASleep(t *testing.T) {
	const ms = 1e6
	r := process.Run{WallNs: 15 * ms, WaitOf: process.FirstThread, Threads: []process.Thread{{ID: 1, CPUNs: 6 * ms, WaitNs: 5 * ms, ReadNs: 15 * ms}}, Events: []process.Event{
		{AtNs: 0, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 0, Kind: process.Executed, Thread: 1, Process: 1},
		{AtNs: 2 * ms, Kind: process.Preempted, Thread: 1, Process: 1},
		{AtNs: 7 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 8 * ms, Kind: process.Blocked, Thread: 1, Process: 1},
		{AtNs: 12 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 15 * ms, Kind: process.Exited, Thread: 1, Process: 1},
	}}
	got, ok := follow(background, &r, 1, 0, wakeupEvents{})
	if !ok || got.low.atNs != 10*ms || got.high.atNs != 15*ms || got.high.own || got.high.ranNs != 3*ms || got.idleNs != 4*ms {
		t.Errorf("%+v", got)
	}
}

// One thread waits for another all the time, which works 2 ms, is kept for 5 and works 1;
// then it works 3 ms. By hand: 6 ms without the wait, 11 with it. Of waits that nothing
// shows, up to 4 ms are in its block, and may be taken off as well.
func TestTrajectoryOfAHandOver(t *testing.T) {
	const ms = 1e6
	r := process.Run{WallNs: 11 * ms, WaitOf: process.FirstThread, Threads: []process.Thread{{ID: 1, CPUNs: 3 * ms, ReadNs: 11 * ms}}, Events: []process.Event{
		{AtNs: 0, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 0, Kind: process.Executed, Thread: 1, Process: 1},
		{AtNs: 0, Kind: process.Forked, Thread: 2, Process: 1, Parent: 1},
		{AtNs: 0, Kind: process.SwitchedIn, Thread: 2, Process: 1},
		{AtNs: 0, Kind: process.Blocked, Thread: 1, Process: 1},
		{AtNs: 2 * ms, Kind: process.Preempted, Thread: 2, Process: 1},
		{AtNs: 7 * ms, Kind: process.SwitchedIn, Thread: 2, Process: 1},
		{AtNs: 8 * ms, Kind: process.Blocked, Thread: 2, Process: 1},
		{AtNs: 8 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 11 * ms, Kind: process.Exited, Thread: 2, Process: 1},
		{AtNs: 11 * ms, Kind: process.Exited, Thread: 1, Process: 1},
	}}
	for hidden, low := range map[float64]float64{0: 6 * ms, 1 * ms: 5 * ms, 4 * ms: 3 * ms, math.Inf(1): 3 * ms} {
		got, ok := follow(background, &r, 1, hidden, wakeupEvents{})
		if !ok || got.low.atNs != low || got.high.atNs != 11*ms || got.high.own {
			t.Errorf("%g hidden: %+v", hidden, got)
		}
	}
}

// Practice problem 9.4 of Bryant 2003: 70 ms charged by ticks of 10 ms took more than 60
// and less than 80.
func TestIntervalCounting(t *testing.T) {
	r := process.Run{UserNs: 40e6, SystemNs: 30e6}
	for _, c := range []struct {
		byTicks   bool
		switches  int64
		low, high float64
	}{{true, 0, 60e6, 80e6}, {true, 1, 50e6, 90e6}, {false, 9, 70e6 - 1e3, 70e6 + 1e3}, {true, 100, 0, 1080e6}} {
		r.InvoluntarySwitches = c.switches
		if low, high := IntervalCounting(r, c.byTicks); low != c.low || high != c.high {
			t.Errorf("by ticks %v, %d switches: %g to %g, want %g to %g", c.byTicks, c.switches, low, high, c.low, c.high)
		}
	}
}

func TestPlanCheck(t *testing.T) {
	for _, p := range []Plan{DefaultPlan, QuickPlan, ThoroughPlan} {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
	for want, change := range map[string]func(*Plan){
		"above 0 and below 1": func(p *Plan) { p.Precision = 0 }, "choose a share": func(p *Plan) { p.Precision = math.NaN() },
		"choose 1 to 1000000": func(p *Plan) { p.MinRuns = 0 }, "choose 10 (the fewest asked for)": func(p *Plan) { p.MaxRuns = 9 },
		"to warm up": func(p *Plan) { p.Warmup = -1 }, "a time above 0": func(p *Plan) { p.MaxTime = 0 },
	} {
		p := DefaultPlan
		change(&p)
		if _, err := Measure(background, []Command{shell("exit 0")}, p, Setting{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Measure(background, nil, DefaultPlan, Setting{}, nil); err == nil {
		t.Error("no command is measured")
	}
}

// Two programs in turn: each has its runs, bounds that hold together, and its own figures.
func TestMeasure(t *testing.T) {
	told := 0
	results, err := Measure(background, []Command{shell("exit 0"), shell("sleep 0.05")}, short, Setting{}, func(Progress) { told++ })
	if err != nil || len(results) != 2 || told < 6 {
		t.Fatalf("%d results, told %d times, %v", len(results), told, err)
	}
	for _, r := range results {
		e := r.Estimate
		if r.Failure != nil || len(r.Runs) < short.MinRuns || !(e.Lo >= 0 && e.Lo <= e.Value && e.Value <= e.Hi) || r.Explanation == "" || r.Method == "" {
			t.Errorf("%s: %+v, %v, %q", r.Command.Name, e, r.Failure, r.Explanation)
		}
		if r.Verdict == stats.Trusted {
			t.Errorf("%s is trusted though nothing is known of the machine", r.Command.Name)
		}
	}
	if results[1].Wall.Value < 50e6 {
		t.Errorf("a sleep of 50 ms took %v ns", results[1].Wall.Value)
	}
	// Where no switches are noted, a short program may have taken no time, as far as is known.
	if c := Compare(results[0], results[1], 0.01, 1); results[0].Estimate.Lo > 0 && (!(c.Ratio.Value > 1) || !(c.P <= 1)) {
		t.Errorf("%+v", c)
	}
}

// Each run reads all of the input, whoever asks for the runs.
func TestInputOfEachRun(t *testing.T) {
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, []byte("data\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(input)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	command := shell("read word && test $word = data")
	command.Stdin = file
	results, err := Measure(background, []Command{command}, short, Setting{}, nil)
	if err != nil || results[0].Failure != nil || len(results[0].Runs) < short.MinRuns {
		t.Errorf("%v, %+v", err, results)
	}
}

// A file that gives rights is not traced where its program would lose them.
func TestGivesRights(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o755: false, 0o755 | os.ModeSetuid: true, 0o755 | os.ModeSetgid: true} {
		if err := os.Chmod(file, mode); err != nil {
			t.Skip(err)
		}
		if got := givesRights(file); got != want {
			t.Errorf("%v: %v", mode, got)
		}
	}
}

func TestFailures(t *testing.T) {
	timeout := shell("sleep 1000 & sleep 1000")
	timeout.Timeout = 100 * time.Millisecond
	prepared := shell("exit 0")
	prepared.Prepare = &process.Command{Path: "sh", Args: []string{"-c", "exit 7"}}
	missing := Command{Name: "missing", Command: process.Command{Path: "/no/such/program"}}
	results, err := Measure(background, []Command{shell("exit 3"), shell("kill -9 $$"), timeout, prepared, missing, shell("exit 0")}, short, Setting{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"exit status 3", "killed", "time-out", "its preparation: exit status 7", "check that it is there", ""} {
		got := results[i].Failure
		if (got == nil) != (want == "") || got != nil && (!strings.Contains(got.Error(), want) || results[i].Verdict != stats.Unusable) {
			t.Errorf("%s: %v, want %q", results[i].Command.Name, got, want)
		}
	}
	ignoring := short
	ignoring.IgnoreFailure = true
	results, err = Measure(background, []Command{shell("exit 3")}, ignoring, Setting{}, nil)
	if err != nil || results[0].Failure != nil || len(results[0].Runs) < 3 || results[0].Runs[1].ExitCode != 3 {
		t.Errorf("ignored: %+v, %v", results[0], err)
	}
	notReset := shell("exit 0") // what follows a run is no failure of the command
	notReset.Conclude = &process.Command{Path: "sh", Args: []string{"-c", "exit 7"}}
	results, err = Measure(background, []Command{notReset}, ignoring, Setting{}, nil)
	if err != nil || results[0].Failure == nil || !strings.Contains(results[0].Failure.Error(), "what follows it: exit status 7") {
		t.Errorf("what follows a run failed: %+v, %v", results[0], err)
	}
}

// When the context ends, what was measured until then is there.
func TestMeasureInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	plan := Plan{Precision: 1e-9, MinRuns: 1000, MaxRuns: 1000, MaxTime: time.Hour}
	results, err := Measure(ctx, []Command{shell("exit 0")}, plan, Setting{}, func(p Progress) {
		if p.Runs == 8 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(results) != 1 || len(results[0].Runs) != 8 {
		t.Errorf("%v, %+v", err, results)
	}
}

func TestOnce(t *testing.T) {
	run, err := Once(background, shell("exit 4"), Setting{})
	var failed *FailedError
	if !errors.As(err, &failed) || run.ExitCode != 4 || run.WallNs <= 0 || run.HighNs < run.LowNs || run.Rejected {
		t.Errorf("%+v, %v", run, err)
	}
}

func TestAttach(t *testing.T) {
	if _, err := process.Look(os.Getpid()); err != nil {
		t.Skip(err)
	}
	busy := exec.Command("sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Skip(err)
	}
	defer busy.Wait()
	defer busy.Process.Kill()
	r, err := Attach(background, busy.Process.Pid, 200*time.Millisecond, Setting{CPUs: 1})
	if err != nil || r.Wall.Value < 200e6 || !(r.Estimate.Lo <= r.Estimate.Hi) || r.Verdict == stats.Trusted {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Attach(background, 1<<30, time.Millisecond, Setting{}); err == nil {
		t.Error("a process that is not there can be looked at")
	}
}

// Who gave a program a niceness is told so. The program leads a session of its own, with that niceness.
func TestNice(t *testing.T) {
	leads := `read -r pid name state parent group session rest < /proc/self/stat && [ "$pid" = "$session" ]`
	results, err := Measure(background, []Command{shell(leads)}, short, Setting{Nice: 19}, nil)
	if err != nil || results[0].Failure != nil || !strings.Contains(results[0].Explanation, "niceness of 19") {
		t.Errorf("%v, %+v", err, results)
	}
}

func TestHere(t *testing.T) {
	s, release, err := Here(background, Setting{})
	defer release()
	if err != nil || s.CPUs < 1 || s.Root == nil || s.CoreHz != nil && !(s.CoreHz() > 0) {
		t.Errorf("%+v, %v", s, err)
	}
}

// From where on interval counting is chosen: by the source, and by what was found here at
// the coarsest tolerance that will do.
func TestLimitsOfMethods(t *testing.T) {
	const second = 1e9
	nan := math.NaN()
	reach := func(m Method, load int, tolerance, from, to float64) Reach {
		return Reach{Method: m, Load: load, Tolerance: tolerance, MinDurationNs: from, MaxDurationNs: to}
	}
	for name, c := range map[string]struct {
		reach []Reach
		want  float64
	}{
		"the source":                     {nil, second},
		"all of it":                      {[]Reach{reach(CycleTime, 11, 0.01, 1e7, 1e9), reach(ByIntervalCounting, 11, 0.01, 1e8, 1e9)}, second},
		"cycles up to 0.1 s":             {[]Reach{reach(CycleTime, 11, 0.01, 1e7, 1e8), reach(ByIntervalCounting, 11, 0.01, 1e7, 1e9)}, 1e8},
		"neither from 0.1 to 0.3 s":      {[]Reach{reach(CycleTime, 4, 0.01, 1e7, 1e8), reach(ByIntervalCounting, 4, 0.01, 3e8, 1e9)}, 3e8},
		"the worst of the loads":         {[]Reach{reach(CycleTime, 4, 0.01, 1e7, 1e9), reach(CycleTime, 11, 0.01, 1e7, 2e8)}, 2e8},
		"counting not at all":            {[]Reach{reach(ByIntervalCounting, 11, 0.01, nan, nan)}, math.Inf(1)},
		"counting only alone":            {[]Reach{reach(ByIntervalCounting, 1, 0.01, nan, nan)}, second},
		"a finer tolerance is left out":  {[]Reach{reach(CycleTime, 11, 0.001, 1e7, 1e7), reach(CycleTime, 11, 0.01, 1e7, 5e8)}, 5e8},
		"a coarser one is not good here": {[]Reach{reach(CycleTime, 11, 0.1, 1e7, 1e8)}, second},
	} {
		conclusion := conclusion{plan: DefaultPlan, setting: Setting{Reach: c.reach}}
		if got := conclusion.longNs(); got != c.want {
			t.Errorf("%s: from %g ns on, want %g", name, got, c.want)
		}
	}
}
