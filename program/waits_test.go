package program

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/process"
	"chronoscope/stats"
)

// keptFor is a program of one thread that works so long, and is kept from its CPU once in between.
func keptFor(workMs, keptMs float64) Run {
	end := workMs + keptMs
	events := begun().at(workMs/2, process.Preempted, 1, 1, 0).at(workMs/2+keptMs, process.SwitchedIn, 1, 1, 0).at(end, process.Exited, 1, 1, 0)
	run := events.run(end, workMs, process.Thread{ID: 1, CPUNs: int64(workMs * ms), WaitNs: int64(keptMs * ms), ReadNs: int64(end * ms)})
	run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), keptMs*ms
	return run
}

// series of runs, on one CPU that nothing interrupts.
func (s *series) concluded(n int, run func(i int) Run) *Result { return s.concludedOn(1, n, run) }

// concludedOn concludes from runs on the given number of CPUs.
func (s *series) concludedOn(cpus, n int, run func(i int) Run) *Result {
	for i := range n {
		r := run(i)
		s.take(background, &r, cpus)
		s.runs, s.rounds = append(s.runs, r), append(s.rounds, i)
	}
	return conclude(s, DefaultPlan, quiet, quiet.checks())
}

// What a program does when it is late can't be seen in these: where it had to wait, it may have
// taken longer alone. They were trusted.
func TestLateUnseen(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    series
		probe func(*Run)
	}{
		{"its system calls are not known", series{probed: true, someUnnoted: true}, nil},
		{"it makes too many to be noted", series{}, func(r *Run) { r.Untraced, r.Unnoted = nil, errors.New("too many") }},
		{"it looks at a clock, and works more where that hides what it waits", series{}, func(r *Run) {
			*r = keptFor(100, 0.1)
			r.Untraced, r.ClockReads, r.ClockWorkNs = nil, 9, 30*ms
		}},
		{"it looks at a clock by system calls, which hide nothing", series{}, func(r *Run) {
			r.Untraced, r.ClockReads, r.ClockWorkNs, r.UncorrectedWorkNs = nil, 9, 30*ms, 30*ms
		}},
		{"it looks at clocks too often for all of that to be seen", series{}, func(r *Run) { r.Untraced, r.ClockReads, r.Unclocked = nil, 300, errors.New("too many") }},
		{"a scheduling policy that stops it", series{}, func(r *Run) { r.OtherPolicy = true }},
		{"a control group with a CPU limit, which stops it", series{}, func(r *Run) { r.OtherLimit = true }},
	} {
		for keptMs, want := range map[float64]stats.Verdict{0.1: stats.Trusted, 60: stats.Suspect} {
			s := c.of
			r := s.concluded(20, func(i int) Run {
				run := keptFor(66, keptMs)
				if c.probe != nil && i < mostProbes {
					c.probe(&run)
				}
				return run
			})
			if r.Verdict != want {
				t.Errorf("%s, kept for %v ms: %s, want %s: %+v %q", c.name, keptMs, r.Verdict, want, r.Estimate, r.Reasons)
			}
		}
	}
}

// A program of 200 ms waits 3 ms for a CPU, and passes a deadline meanwhile to which it may have slept alone:
// it takes 200 to 203 ms. It was suspect however short the wait was.
func TestLittleLateIsInTheInterval(t *testing.T) {
	for keptMs, want := range map[float64]stats.Verdict{3: stats.Trusted, 60: stats.Suspect} {
		s := series{probed: true, timedWaits: 1}
		r := s.concluded(20, func(int) Run { return keptFor(200, keptMs) })
		if r.Verdict != want || !r.Estimate.Covers(200.1*ms) || !r.Estimate.Covers((199.9+keptMs)*ms) {
			t.Errorf("kept for %v ms: %s, want %s: %+v %q", keptMs, r.Verdict, want, r.Estimate, r.Reasons)
		}
	}
}

// Somebody opens a file that tells how long programs wait while the first probe runs. The second one, which
// stops at each file, sees whether it was the program. Then what it does may follow its waiting, and else not.
func TestFilesThatTellOfWaiting(t *testing.T) {
	many := keptFor(66, 60)
	if many.SystemNs = 0.4e9; many.opensStopNs() < 10e9 || many.opensStopNs() <= mostStopsNs { // 12 s were seen
		t.Errorf("200,000 opens, which take 0.4 s, are stopped at for %v ns", many.opensStopNs())
	}
	for workNs, want := range map[int64]stats.Verdict{0: stats.Trusted, 66 * ms: stats.Suspect} {
		s := series{}
		r := s.concluded(20, func(i int) Run {
			run := keptFor(66, 60)
			run.FilesToldPossibly = i == 0
			if i < mostProbes {
				run.Untraced = nil
			}
			if i == 1 {
				run.ClockWorkNs, run.UncorrectedWorkNs = workNs, workNs
			}
			return run
		})
		if s.probes != mostProbes || r.Verdict != want {
			t.Errorf("%d ns of work may follow files: %d probes, %s, want %s: %q", workNs, s.probes, r.Verdict, want, r.Reasons)
		}
	}
}

// Of a program that uses too much system time to be stopped at each file that it opens it was not known whether it opened
// such a file, and it was trusted. Where somebody opened one in both probes, it is taken for the program.
func TestFilesOfASystemHeavyProgram(t *testing.T) {
	for opened, want := range map[int]stats.Verdict{0: stats.Trusted, 1: stats.Trusted, 2: stats.Suspect} {
		s := series{}
		r := s.concluded(20, func(i int) Run {
			run := keptFor(66, 60)
			run.UserNs, run.SystemNs = run.UserNs-60*ms, 60*ms
			run.FilesToldPossibly = i < mostProbes
			run.WaitingToldPossibly = i < opened
			if i < mostProbes {
				run.Untraced = nil
			}
			return run
		})
		if r.Verdict != want {
			t.Errorf("opened in %d of %d probes: %s, want %s: %q", opened, s.probes, r.Verdict, want, r.Reasons)
		}
	}
}

// Looks at a clock when it begins and when it ends are nothing that a program works by: from the first
// to the last it worked for 65 ms, and was suspect.
func TestLooksAtClockOnce(t *testing.T) {
	s := series{}
	r := s.concluded(20, func(i int) Run {
		run := keptFor(66, 60)
		run.Untraced, run.ClockReads, run.ClockWorkNs = nil, 5, 0.2*ms
		if i > 0 {
			run.Untraced = errTimeout
		}
		return run
	})
	if r.Verdict != stats.Trusted {
		t.Errorf("%s: %q", r.Verdict, r.Reasons)
	}
}

// A program looks at a clock when it begins and after 51 ms of work, and works for 15 ms more where it is
// late, as in all runs beside this load. The clocks of a traced run hide that, so that no work follows
// its last look: 66 ms were trusted, alone it takes 51.
func TestWorksMoreWhereLate(t *testing.T) {
	for _, c := range []struct {
		reads            int
		keptMs, tracedMs float64
		want             stats.Verdict
	}{
		{2, 60, 51, stats.Suspect},
		{2, 0.1, 51, stats.Trusted}, // it is late in no run
		{2, 60, 65, stats.Trusted},
		{2, 60, 90, stats.Trusted}, // its files were not in memory
		{0, 60, 51, stats.Trusted},
	} {
		s := series{}
		r := s.concluded(20, func(i int) Run {
			if i > 0 {
				return keptFor(66, c.keptMs)
			}
			run := keptFor(c.tracedMs, c.keptMs)
			run.Untraced, run.ClockReads = nil, c.reads
			return run
		})
		if s.probes != 1 || r.Verdict != c.want || r.Verdict == stats.Suspect && r.Estimate.Lo > 51*ms {
			t.Errorf("%+v: %d probes, %s %+v: %q", c, s.probes, r.Verdict, r.Estimate, r.Reasons)
		}
	}
}

// A program that looks at clocks while it works, and works as much where these hide what it waits, was
// suspect beside load: Python looks when it imports, and Go when it schedules. The first of two probes
// may differ for other reasons, such as files that are not in memory.
func TestLooksAtClockInVain(t *testing.T) {
	for name, works := range map[string][2]float64{"both": {66, 67}, "the second": {80, 66.5}, "none, by more": {72, 75}, "none, by less": {55, 50}} {
		s := series{}
		r := s.concluded(22, func(i int) Run {
			if i > 1 {
				return keptFor(66, 60)
			}
			run := keptFor(works[i], 60)
			run.Untraced, run.ClockReads, run.ClockWorkNs = nil, 9, 30*ms
			return run
		})
		none := name[:4] == "none"
		if s.probes != mostProbes || none == (r.Verdict == stats.Trusted) || !none && !(r.Estimate.Hi >= 67.98*ms && r.Estimate.Hi < 69*ms) {
			t.Errorf("%s: %d probes, %s %+v: %q", name, s.probes, r.Verdict, r.Estimate, r.Reasons)
		}
	}
}

// A program spins until 50 ms have passed: of what it waits, it works that much less. A clock of
// the processor shows in no system call; its CPU time does. Another one sees in /proc that it was
// preempted, and leaves out a little, or makes up for it. One that computes works as much.
func TestWorkFollowsWaits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, work := range map[string]func(kept float64) float64{
		"spins":                func(kept float64) float64 { return 50 - kept },
		"leaves some out":      func(kept float64) float64 { return 25 - 0.06*kept },
		"makes up for it":      func(kept float64) float64 { return 25 + 0.3*kept },
		"computes":             func(float64) float64 { return 25 },
		"has its caches empty": func(kept float64) float64 { return 25 + 0.04*kept },
	} {
		s := series{probed: true}
		r := s.concluded(20, func(int) Run {
			kept := 23 + 4*rng.Float64()
			return keptFor(work(kept)*(1+0.002*rng.NormFloat64()), kept)
		})
		if same := name == "computes" || name == "has its caches empty"; same != (r.Verdict == stats.Trusted) {
			t.Errorf("%s: %s, %+v, %q", name, r.Verdict, r.Estimate, r.Reasons)
		}
	}
}

// On a host whose speed varies a program that computes waits in proportion to its CPU time. Runs beside
// this command's loops tell it from one that makes up for what it missed: 44 ms beside three loops were
// suspect in 3 of 3 tries.
func TestWaitsFollowWork(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		contended []contendedRun
		want      stats.Verdict
	}{
		"computes":        {[]contendedRun{{44.2 * ms, 135 * ms}, {44.5 * ms, 180 * ms}}, stats.Trusted},
		"makes up for it": {[]contendedRun{{44.5 * ms, 135 * ms}, {58 * ms, 180 * ms}}, stats.Suspect},
		"unknown":         {nil, stats.Suspect},
		"waits no longer": {[]contendedRun{{44.2 * ms, 135 * ms}}, stats.Suspect},
	} {
		s := series{probed: true, contended: c.contended}
		r := s.concluded(20, func(int) Run {
			works := 44 * (1 + 0.01*rng.NormFloat64())
			return keptFor(works, 3*works*(1+0.003*rng.NormFloat64()))
		})
		if r.Verdict != c.want {
			t.Errorf("%s: %s, %+v, %q", name, r.Verdict, r.Estimate, r.Reasons)
		}
	}
}

// A program spins until a server answers. Beside a constant load it waits for about as long in each run,
// so that its CPU time does not fall with that: 25 ms were trusted, alone it takes 50. It falls where
// this command has it wait for longer. One that computes works as much there,
// and one that makes up for what it missed works more.
func TestWorksLessContended(t *testing.T) {
	for contended, want := range map[float64]stats.Verdict{12: stats.Suspect, 25.5: stats.Trusted, 28: stats.Trusted, 36: stats.Suspect} {
		s := &series{command: Command{Name: "fake"}, probed: true}
		plan := Plan{Precision: 0.01, MinRuns: 10, MaxRuns: 10, ExactRuns: true, MaxTime: time.Hour}
		m := measurement{plan: plan, setting: quiet, cpus: 1, rng: rand.New(rand.NewPCG(1, 1)), all: []*series{s}, checks: quiet.checks()}
		competes := 0
		m.compete = func([]int, int) func() {
			competes++
			return func() { competes-- }
		}
		m.run = func(context.Context, Command, bool) (Run, error) {
			run := keptFor(25, 60)
			if competes > 0 {
				run = keptFor(contended, 120)
			}
			run.Untraced, run.Unnoted = errTimeout, errTimeout
			return run, nil
		}
		if err := m.measure(background); err != nil {
			t.Fatal(err)
		}
		r := conclude(s, plan, quiet, m.checks)
		if r.Verdict != want || len(r.Runs) != 10+favouredRuns+contendedRuns || !r.Runs[10].Rejected || !r.Runs[10+favouredRuns].Rejected || r.Estimate.N != 10 || competes != 0 {
			t.Errorf("%v ms: %s, %+v, %d runs, %q", contended, r.Verdict, r.Estimate, len(r.Runs), r.Reasons)
		}
	}
}

// A sleep of 30 ms uses 1.1 ms of CPU time, and 0.95 ms beside the command's loops: that is no work left
// undone. It was suspect.
func TestHardlyLessWorkContended(t *testing.T) {
	for contended, want := range map[float64]bool{0.95: false, 1.3: false, 0.5: true} {
		s := &series{contended: []contendedRun{{ranNs: contended * ms}, {ranNs: 1.4 * ms}}}
		c := conclusion{series: s}
		for range 10 {
			c.used = append(c.used, &Run{traced: trajectory{ranNs: 1.1 * ms}})
		}
		if less, more := c.workContended(); less != want || more {
			t.Errorf("%v ms: less %v, more %v", contended, less, more)
		}
	}
}

// Beside loops a program under SCHED_IDLE hardly runs: its runs beside them end when their time is over.
// They took a minute where 3 s were allowed, and might have taken days where the number of runs is given, without a limit of
// their time. What follows each run follows such a run, too.
func TestContendedRunsEndInTime(t *testing.T) {
	for _, most := range []time.Duration{2 * time.Second, 1000 * time.Hour} {
		ended := filepath.Join(t.TempDir(), "ended")
		conclude := &process.Command{Path: "sh", Args: []string{"-c", "echo >>" + ended}}
		s := &series{command: Command{Name: "fake", Conclude: conclude}, probed: true}
		plan := Plan{Precision: 0.01, MinRuns: 10, MaxRuns: 10, ExactRuns: true, MaxTime: most}
		m := measurement{plan: plan, setting: quiet, cpus: 1, rng: rand.New(rand.NewPCG(1, 1)), all: []*series{s}, checks: quiet.checks()}
		competes := 0
		m.compete = func([]int, int) func() {
			competes++
			return func() {}
		}
		m.run = func(ctx context.Context, _ Command, _ bool) (Run, error) {
			if competes > 0 {
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
					t.Error("a run beside loops is not ended")
				}
			}
			return keptFor(25, 60), nil
		}
		if err := m.measure(background); err != nil || competes != 1 || len(s.runs) != 10+favouredRuns {
			t.Errorf("%v: %v: %d runs, loops %d times", most, err, len(s.runs), competes)
		}
		if lines, err := os.ReadFile(ended); err != nil || len(lines) != 10+favouredRuns+contendedRuns {
			t.Errorf("%v: what follows a run ran %d times, %v", most, len(lines), err)
		}
	}
}

// A program of 1 ms has more time beside loops than ten times that, as a loop may have the CPU for longer. If one of the two
// runs fails, the other one counts.
func TestContendedRunsOfAShortProgram(t *testing.T) {
	s := &series{command: Command{Name: "fake"}, probed: true}
	plan := Plan{Precision: 0.01, MinRuns: 10, MaxRuns: 10, ExactRuns: true, MaxTime: time.Minute}
	m := measurement{plan: plan, setting: quiet, cpus: 1, rng: rand.New(rand.NewPCG(1, 1)), all: []*series{s}, checks: quiet.checks()}
	competes, made := false, 0
	m.compete = func([]int, int) func() {
		competes = true
		return func() {}
	}
	m.run = func(ctx context.Context, _ Command, _ bool) (Run, error) {
		if !competes {
			return keptFor(1, 4), nil
		}
		if end, limited := ctx.Deadline(); !limited || time.Until(end) < leastPatience/2 {
			t.Errorf("limited: %v, to %v", limited, time.Until(end))
		}
		if made++; made == 1 {
			return Run{}, &FailedError{Name: "fake", What: TheCommand, Err: errTimeout}
		}
		return keptFor(1, 9), nil
	}
	if err := m.measure(background); err != nil || made != contendedRuns || len(s.contended) != 1 {
		t.Errorf("%v: %d runs beside loops, %d count", err, made, len(s.contended))
	}
}

// On an idle machine a program that works until 50 ms have passed takes that, whatever interrupts
// take of it: 3 % of it were taken off. Its explanation blamed other programs, though none ran. So does
// one that works until it has used 50 ms of CPU time, as most kernels count it.
func TestInterruptsOfWhoLooksAtClock(t *testing.T) {
	noisy := quiet
	noisy.Noise.LostShare, noisy.Noise.LossesPerSecond = 0.03, 1000
	for looks, s := range map[string]series{"at a clock": {looksAtClock: true}, "at its CPU time": {looksAtCPUTime: true}, "": {}} {
		s.probed = true
		for i := range 20 {
			r := keptFor(50, 0.001)
			s.take(background, &r, 1)
			s.runs, s.rounds = append(s.runs, r), append(s.rounds, i)
		}
		r := conclude(&s, DefaultPlan, noisy, noisy.checks())
		if e := r.Estimate; !e.Covers(48.5*ms) || e.Covers(50*ms) != (looks != "") {
			t.Errorf("looks %s: %+v", looks, e)
		}
		const unknown = "interrupts took 1.50 ms, and how much of that made it longer is not known"
		if r.Explanation == unknown != (looks != "") || strings.Contains(strings.Join(r.Reasons, "; "), "that delay") {
			t.Errorf("looks %s: %q, %q", looks, r.Explanation, r.Reasons)
		}
	}
}

// Interrupts are named only where nothing else keeps the bounds apart, and others only where they may have delayed the program.
func TestWhoKeepsBoundsApart(t *testing.T) {
	for name, c := range map[string]struct {
		lowNs, highNs, grossNs float64
		interrupted            bool
	}{
		"it looks at a clock":                           {48.5 * ms, 50 * ms, 50 * ms, true},
		"it looks at a clock, and others took 5 ms":     {43.5 * ms, 45 * ms, 45 * ms, true},
		"it may have left work undone":                  {48 * ms, 55 * ms, 50 * ms, false},
		"others took up to 5 ms":                        {43.5 * ms, 48.5 * ms, 50 * ms, false},
		"others took from 7 to 7.9 ms":                  {40.6 * ms, 41.5 * ms, 43 * ms, false}, // 2.2 % of it, and 1.8 % of the wall time
		"it was delayed, and may have left undone 3 ms": {40.5 * ms, 45 * ms, 42 * ms, false},
	} {
		run := Run{InterruptsNs: 1.5 * ms, grossHighNs: c.grossNs}
		run.WallNs = 50 * ms
		x := conclusion{Result: &Result{}, used: []*Run{&run}, low: []float64{c.lowNs}, high: []float64{c.highNs}, plan: DefaultPlan}
		if said := x.sayDelays(); x.interrupted != c.interrupted {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// Where interrupts take less than matters for the choice of the method, interval counting took all of them off a program
// that works until 1.5 s have passed.
func TestInterruptsOfWhoLooksAtClockForLong(t *testing.T) {
	noisy := quiet
	noisy.Noise.LostShare, noisy.Noise.LossesPerSecond = 0.008, 1000
	for _, looks := range []bool{true, false} {
		s := series{probed: true, looksAtClock: looks}
		for i := range 20 {
			r := keptFor(1500, 0.001)
			s.take(background, &r, 1)
			s.runs, s.rounds = append(s.runs, r), append(s.rounds, i)
		}
		if r := conclude(&s, DefaultPlan, noisy, noisy.checks()); r.Method != ByIntervalCounting || !r.Estimate.Covers(1488*ms) || r.Estimate.Covers(1499.9*ms) != looks {
			t.Errorf("looks at a clock %v: %+v by %s: %s", looks, r.Estimate, r.Method, r.Explanation)
		}
	}
}

// Three runs in ten find their answer ready and sleep until 70 ms; the others compute for 25, and
// sleep until 100. Nobody disturbs them; and where somebody does, it is the others that wait.
func TestTwoModes(t *testing.T) {
	for _, c := range []struct {
		keptMs float64
		short  int  // of ten runs
		lucky  bool // one of the others is not kept waiting: then those that wait least show both
	}{{0, 3, false}, {30, 3, false}, {30, 2, true}} {
		s := series{probed: true, timedWaits: 1, sleeps: 1}
		r := s.concluded(60, func(i int) Run {
			work, until, kept := 25., 100., c.keptMs
			if i%10 < c.short {
				work, until, kept = 0.2, 70, 0
			}
			if c.lucky && i == 5 {
				kept = 0
			}
			events := begun().at(work/2, process.Preempted, 1, 1, 0).at(work/2+kept, process.SwitchedIn, 1, 1, 0).
				at(work+kept, process.Blocked, 1, 1, 0).at(until, process.SwitchedIn, 1, 1, 0).at(until+0.1, process.Exited, 1, 1, 0)
			run := events.run(until+0.1, work+0.1, process.Thread{ID: 1, CPUNs: int64((work + 0.1) * ms), WaitNs: int64(kept * ms), ReadNs: int64((until + 0.1) * ms)})
			run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), kept*ms
			return run
		})
		if r.Verdict == stats.Trusted && !r.Estimate.Covers(100.1*ms) {
			t.Errorf("%+v: 100 ms are measured as %+v, %s by %s", c, r.Estimate, r.Verdict, r.Method)
		}
	}
}

// Nothing is no time that a program takes, and not the headline of a result.
func TestNoTime(t *testing.T) {
	r := &Result{Summary: Summary{Estimate: stats.Estimate{Value: 0, Lo: 0, Hi: 479 * ms, N: 5}, Wall: stats.Estimate{Value: 200 * ms}}, Judgement: stats.NewJudgement()}
	if !r.RefuseZero() || !math.IsNaN(r.Estimate.Value+r.Estimate.Lo+r.Estimate.Hi) || r.Estimate.N != 5 || r.Verdict != stats.Unusable {
		t.Errorf("%+v, %s", r.Estimate, r.Verdict)
	}
	r = &Result{Summary: Summary{Estimate: stats.Estimate{Value: 1}}, Judgement: stats.NewJudgement()}
	if r.RefuseZero() || r.Verdict != stats.Trusted {
		t.Errorf("%+v, %s", r.Estimate, r.Verdict)
	}
}

// A shell that waits for its children blocks for now more and now less. It asks for no time, so that
// there is no deadline that passed; that was said of it.
func TestBlocksNowAndThen(t *testing.T) {
	for _, timedWaits := range []int{0, 1} {
		s := series{probed: true, timedWaits: timedWaits}
		r := s.concluded(30, func(i int) Run {
			const work, kept = 2., 3.
			blocked := 1.5 * float64(i%2)
			wall := work + kept + blocked
			events := begun().at(work/4, process.Preempted, 1, 1, 0).at(work/4+kept, process.SwitchedIn, 1, 1, 0).
				at(work/2+kept, process.Blocked, 1, 1, 0).at(work/2+kept+blocked, process.SwitchedIn, 1, 1, 0).at(wall, process.Exited, 1, 1, 0)
			run := events.run(wall, work, process.Thread{ID: 1, CPUNs: work * ms, WaitNs: kept * ms, ReadNs: int64(wall * ms)})
			run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), kept*ms
			return run
		})
		said := slices.ContainsFunc(r.Reasons, func(reason string) bool { return strings.Contains(reason, "sleeps in some runs") })
		if said != (timedWaits > 0) {
			t.Errorf("%d timed waits: %s %q", timedWaits, r.Verdict, r.Reasons)
		}
	}
}

// Java blocks for 1.5 ms in some runs and not at all in others, and waits for a CPU for 1.5 % of each: the interval holds
// that. It was suspect, on an idle machine.
func TestSleepsNowAndThenHardlyLate(t *testing.T) {
	for _, keptMs := range []float64{1.5, 5} {
		s := series{probed: true, timedWaits: 1}
		r := s.concluded(40, func(i int) Run { return besideOthers(100, keptMs, 5*float64(i%4/3)) })
		said := slices.ContainsFunc(r.Reasons, func(reason string) bool { return strings.Contains(reason, "sleeps in some runs") })
		if late := keptMs > 100*littleLate; said != late {
			t.Errorf("kept for %v ms: %s %q", keptMs, r.Verdict, r.Reasons)
		}
	}
}

// Of a program whose child took long to give back its memory one run in 3,000 is not believed to be
// noted; one in thirty moves no median. It was suspect for that.
func TestFewRunsUnnoted(t *testing.T) {
	for unnoted, want := range map[int]stats.Verdict{1: stats.Trusted, 6: stats.Suspect} {
		s := series{probed: true}
		r := s.concluded(30, func(i int) Run {
			run := keptFor(66, 0.1)
			if i < unnoted {
				run.Events, run.Unwatched = nil, errTimeout
			}
			return run
		})
		if r.Verdict != want {
			t.Errorf("%d of 30: %s %q", unnoted, r.Verdict, r.Reasons)
		}
	}
}
