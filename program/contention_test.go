package program

import (
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// contention is what the simulated machine tells of a run, beside [process.OthersUse].
func (c simulatedCase) contention(out clocktest.CrowdRun) machine.Contention {
	seen := machine.Contention{Stretches: 1}
	if c.load > 1 || len(c.crowd.Beside) > 0 {
		seen.OthersNs, seen.WaitedNs = out.OthersNs, out.WallNs
	}
	return seen
}

// outsideCase is a program of one thread that works 1 ms, waits, and works 1 more, on a machine
// with such contention in each of its runs.
func outsideCase(waitMs float64, sleeps int, c machine.Contention) *Result {
	s := &series{probed: true, sentinels: 1, timedWaits: sleeps, sleeps: sleeps}
	for i := range 40 {
		end := 2 + waitMs
		events := begun().at(1, process.Blocked, 1, 1, 0).at(1+waitMs, process.SwitchedIn, 1, 1, 0).at(end, process.Exited, 1, 1, 0)
		run := events.run(end, 2, process.Thread{ID: 1, CPUNs: 2 * ms, ReadNs: int64(end * ms)})
		run.CoreHz, run.StealNs, run.ThrottledNs, run.Contention = math.NaN(), math.NaN(), math.NaN(), c
		s.take(background, &run, 2)
		s.runs, s.rounds = append(s.runs, run), append(s.rounds, i)
	}
	return conclude(s, DefaultPlan, Setting{CPUs: 2, Noise: quiet.Noise}, quiet.checks())
}

// A server that is no descendant shares its CPU with a loop: 200 ms of its work took 400, and
// that was trusted. What is waited for outside of the program may be delayed by as much as some
// thread waited for a CPU, and others ran; sleeps and children's ends are not.
func TestServerThatHadToWait(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name       string
		sleeps     int
		contention machine.Contention
		want       stats.Verdict
	}{
		{"a loop on the server's CPU", 0, machine.Contention{Stretches: 1, OthersNs: 400 * ms, WaitedNs: 200 * ms}, stats.Unusable},
		{"so little pressure that it does not matter", 0, machine.Contention{Stretches: 1, OthersNs: 400 * ms, WaitedNs: 1 * ms}, stats.Trusted},
		{"nobody but the program's own threads waited", 0, machine.Contention{Stretches: 1, OthersNs: 0, WaitedNs: 200 * ms}, stats.Trusted},
		{"no pressure known, and others ran", 0, machine.Contention{Stretches: 1, OthersNs: 200 * ms, WaitedNs: nan}, stats.Unusable},
		{"nothing known", 0, machine.Contention{}, stats.Suspect},
		{"a sleep", 1, machine.Contention{Stretches: 1, OthersNs: 400 * ms, WaitedNs: 200 * ms}, stats.Trusted},
	} {
		if r := outsideCase(400, c.sleeps, c.contention); r.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %q", c.name, r.Verdict, c.want, r.Reasons)
		}
	}
}

// Others may have kept a server of 400 ms from its CPU for 6 ms: that is in the interval, and no reason for
// doubt by itself. It was suspect however little it was.
func TestLittleDelayOfAServerIsInTheInterval(t *testing.T) {
	r := outsideCase(400, 0, machine.Contention{Stretches: 1, OthersNs: 400 * ms, WaitedNs: 3 * ms}) // on each of two CPUs
	if r.Verdict != stats.Trusted || !r.Estimate.Covers(396.5*ms) || !r.Estimate.Covers(401.9*ms) || r.Estimate.RelativeHalfWidth() > 0.012 {
		t.Errorf("396 to 402 ms: %s %+v %q", r.Verdict, r.Estimate, r.Reasons)
	}
}

// A client whose server was kept from its CPU by loops had an interval at more than twice its time alone: it told of
// the doubt, and did not hold the truth. The interval holds all that the server may have been delayed by.
func TestLongDelayOfAServerIsInTheInterval(t *testing.T) {
	for _, ms200 := range []machine.Contention{
		{Stretches: 1, OthersNs: 200 * ms, WaitedNs: math.NaN()},
		{Stretches: 1, OthersNs: 400 * ms, WaitedNs: 100 * ms}, // on each of two CPUs
	} {
		r := outsideCase(400, 0, ms200)
		if r.Verdict == stats.Trusted || !r.Estimate.Covers(202*ms) || !r.Estimate.Covers(401*ms) {
			t.Errorf("%+v: 202 to 402 ms: %s %+v %q", ms200, r.Verdict, r.Estimate, r.Reasons)
		}
	}
}

// A client polls with a time limit for the answer of a server, which shares its CPU with a loop: that
// passed for a sleep.
func TestPollIsNoSleep(t *testing.T) {
	for sleeps, want := range map[int64]stats.Verdict{0: stats.Unusable, 1: stats.Trusted} {
		var s series
		probe := Run{Run: process.Run{TimedWaits: 1, TimedSwitches: 1, SleepSwitches: sleeps}}
		probe.noted = true
		s.probe(&probe, 1)
		r := outsideCase(400, s.sleeps, machine.Contention{Stretches: 1, OthersNs: 400 * ms, WaitedNs: 200 * ms})
		if r.Verdict != want {
			t.Errorf("%d sleeps: %s, want %s: %q", sleeps, r.Verdict, want, r.Reasons)
		}
	}
}

// How long threads waited for what is no part of the program follows by hand from its blocks.
func TestOutside(t *testing.T) {
	for _, c := range []struct {
		name   string
		events noted
		sleeps int
		wantMs float64
	}{
		{"an answer", begun().at(1, process.Blocked, 1, 1, 0).at(11, process.SwitchedIn, 1, 1, 0).at(20, process.Exited, 1, 1, 0), 0, 10},
		{"an answer just before the end", begun().at(1, process.Blocked, 1, 1, 0).at(19.95, process.SwitchedIn, 1, 1, 0).at(20, process.Exited, 1, 1, 0), 0, 18.95},
		{"the program's end ends another thread, too", begun().at(0, process.Forked, 2, 1, 1).at(0, process.Blocked, 2, 1, 1).
			at(1, process.Blocked, 1, 1, 0).at(19.95, process.SwitchedIn, 1, 1, 0).at(19.98, process.SwitchedIn, 2, 1, 1).at(19.99, process.Exited, 2, 1, 1).at(20, process.Exited, 1, 1, 0), 1, 19.98},
		{"a sleep", begun().at(1, process.Blocked, 1, 1, 0).at(11, process.SwitchedIn, 1, 1, 0).at(20, process.Exited, 1, 1, 0), 1, 0},
		{"a sleep, and two answers", begun().at(1, process.Blocked, 1, 1, 0).at(11, process.SwitchedIn, 1, 1, 0).
			at(12, process.Blocked, 1, 1, 0).at(15, process.SwitchedIn, 1, 1, 0).at(16, process.Blocked, 1, 1, 0).at(18, process.SwitchedIn, 1, 1, 0).at(20, process.Exited, 1, 1, 0), 1, 13},
		{"a thread that wakes the one that joins it before its exit is noted", begun().at(0, process.Forked, 2, 1, 1).at(0, process.SwitchedIn, 2, 1, 1).
			at(1, process.Blocked, 1, 1, 0).at(11, process.SwitchedIn, 1, 1, 0).at(11.05, process.Exited, 2, 1, 1).at(20, process.Exited, 1, 1, 0), 0, 0},
		{"a child of a child", begun().at(0, process.Forked, 2, 2, 1).at(0, process.SwitchedIn, 2, 2, 1).
			at(0, process.Forked, 3, 3, 1).at(1, process.Blocked, 1, 1, 0).at(11, process.SwitchedIn, 1, 1, 0).at(11, process.Exited, 3, 3, 1).
			at(20, process.Exited, 1, 1, 0), 0, 0},
		{"an exec that vfork waits for", begun().at(0, process.Forked, 2, 2, 1).at(0, process.SwitchedIn, 2, 2, 1).
			at(1, process.Blocked, 1, 1, 0).at(11, process.Executed, 2, 2, 1).at(11, process.SwitchedIn, 1, 1, 0).at(20, process.Exited, 1, 1, 0), 0, 0},
		{"moments", begun().at(1, process.Blocked, 1, 1, 0).at(1.05, process.SwitchedIn, 1, 1, 0).at(20, process.Exited, 1, 1, 0), 0, 0},
	} {
		if got := outsideNs(c.events, c.sleeps, 20*ms); math.Abs(got-c.wantMs*ms) > 1 {
			t.Errorf("%s: %v ns, want %v ms", c.name, got, c.wantMs)
		}
	}
}

// A server works 20 ms for the program, or until 20 ms have passed, while others keep it from its CPU for 5 to 15 ms.
func TestServerThatWorksUntilSomeTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for name, c := range map[string]struct {
		less, sliceMs, keptMs float64
		want                  stats.Verdict
	}{
		"work": {0, 0, 5, stats.Trusted}, "time": {1, 0, 5, stats.Suspect}, "time, hardly kept": {1, 0, 0.001, stats.Trusted},
		"time, at the end of a slice": {0, 8, 5, stats.Suspect},
	} {
		k := conclusion{Result: &Result{Judgement: stats.NewJudgement()}, plan: Plan{Precision: 0.01}}
		k.Estimate.Value = 20 * ms
		for i := range 90 { // 60 runs were not recorded
			r := &Run{noted: true}
			r.traced.heldUpKnown, r.traced.heldUpNs = i < 30, 20*ms
			if !r.traced.heldUpKnown {
				k.used = append(k.used, r)
				continue
			}
			r.traced.serversKeptNs = c.keptMs * ms * (1 + 2*rng.Float64())
			r.traced.workedForNs = 20*ms - c.less*r.traced.serversKeptNs + c.sliceMs*ms*rng.Float64() + 0.3*ms*rng.NormFloat64()
			k.used = append(k.used, r)
		}
		if k.judgeServers(); k.Verdict != c.want {
			t.Errorf("%s: %v %v, want %v", name, k.Verdict, k.Reasons, c.want)
		}
	}
}

// A server that works until some time was kept from a CPU for 2 % of each run: alone the program takes up to that much
// longer. What its interval holds is no reason for a doubt.
func TestServersThatWereHardlyLate(t *testing.T) {
	k := conclusion{Result: &Result{Judgement: stats.NewJudgement(), Summary: Summary{Wall: stats.Estimate{Value: 90 * ms, Hi: 100 * ms}}}, series: &series{}, plan: Plan{Precision: 0.01}}
	for i := range 60 {
		r := &Run{noted: true}
		r.traced.heldUpKnown, r.traced.heldUpNs = true, 20*ms
		r.traced.serversKeptNs = 0.4*ms + 0.01*ms*float64(i%7)
		r.traced.workedForNs = 10*ms - r.traced.serversKeptNs
		k.used, k.low, k.high = append(k.used, r), append(k.low, 20*ms), append(k.high, 20*ms)
	}
	k.estimate()
	k.judgeServers()
	if e := k.Estimate; !e.Covers(20.4*ms) || !e.Covers(19.6*ms) || e.RelativeHalfWidth() > 0.025 || k.Verdict != stats.Trusted {
		t.Errorf("%+v: %s %q", e, k.Verdict, k.Reasons)
	}
}
