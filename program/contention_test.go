package program

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/process"
	"chronoscope/stats"
)

// seen is what is known of others during a run: of each process, or by looks at /proc/stat.
type seen struct {
	others process.OthersUse
	around neighbours
}

// waiting are others that are all seen.
func waiting(ranNs, waitedNs int64) seen {
	return seen{others: process.OthersUse{Known: true, CPUNs: ranNs, WaitNs: waitedNs}}
}

// unseen are others of which only /proc/stat tells.
func unseen(ranNs float64, stretches int) seen {
	return seen{around: neighbours{passedNs: 402 * ms, othersNs: ranNs, elsewhereNs: ranNs, stretches: stretches}}
}

// outsideCase is a program of one thread that works 1 ms, waits, and works 1 more, on a machine with others.
func outsideCase(sleeps int, each func(i int) (waitMs float64, beside seen)) *Result {
	s := &series{probed: true, sentinels: 1, timedWaits: sleeps, sleeps: sleeps}
	for i := range 40 {
		waitMs, beside := each(i)
		end := 2 + waitMs
		events := begun().at(1, process.Blocked, 1, 1, 0).at(1+waitMs, process.SwitchedIn, 1, 1, 0).at(end, process.Exited, 1, 1, 0)
		run := events.run(end, 2, process.Thread{ID: 1, CPUNs: 2 * ms, ReadNs: int64(end * ms)})
		run.CoreHz, run.StealNs, run.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
		run.Others, run.around = beside.others, beside.around
		s.take(background, &run, 2)
		s.runs, s.rounds = append(s.runs, run), append(s.rounds, i)
	}
	return conclude(s, DefaultPlan, Setting{CPUs: 2, Noise: quiet.Noise}, quiet.checks())
}

// always is a wait of 400 ms beside the same others in each run.
func always(beside seen) func(int) (float64, seen) {
	return func(int) (float64, seen) { return 400, beside }
}

// A server that is no descendant shares its CPU with a loop: 200 ms of its work took 400, and
// that was trusted. What is waited for outside of the program may be delayed for as long as others
// waited for a CPU, and others had one; sleeps and children's ends are not.
func TestServerThatHadToWait(t *testing.T) {
	for _, c := range []struct {
		name   string
		sleeps int
		beside seen
		want   stats.Verdict
	}{
		{"a loop on the server's CPU", 0, waiting(400*ms, 400*ms), stats.Unusable},
		{"waits so short that they don't matter", 0, waiting(400*ms, 1*ms), stats.Trusted},
		{"nobody but the program's own threads ran", 0, waiting(0, 200*ms), stats.Trusted},
		{"processes not seen, and others ran", 0, unseen(200*ms, 1), stats.Suspect},
		{"processes not seen, and others hardly ran", 0, unseen(0, 1), stats.Trusted},
		{"a /proc/stat without this process", 0, unseen(-400*ms, 1), stats.Suspect},
		{"nothing known", 0, unseen(math.NaN(), 1), stats.Suspect},
		{"no look", 0, unseen(0, 0), stats.Suspect},
		{"a sleep", 1, waiting(400*ms, 200*ms), stats.Trusted},
	} {
		if r := outsideCase(c.sleeps, always(c.beside)); r.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %+v %q", c.name, r.Verdict, c.want, r.Estimate, r.Reasons)
		}
	}
}

// Others may have kept a server of 400 ms from its CPU for 6 ms: that is in the interval, and no reason for
// doubt by itself. It was suspect however little it was.
func TestLittleDelayOfAServerIsInTheInterval(t *testing.T) {
	r := outsideCase(0, always(waiting(6*ms, 6*ms)))
	if r.Verdict != stats.Trusted || !r.Estimate.Covers(396.5*ms) || !r.Estimate.Covers(401.9*ms) || r.Estimate.RelativeHalfWidth() > 0.012 {
		t.Errorf("396 to 402 ms: %s %+v %q", r.Verdict, r.Estimate, r.Reasons)
	}
}

// A client whose server was kept from its CPU by loops had an interval at more than twice its time alone: it told of
// the doubt, and did not hold the truth. The interval holds all that the server may have been delayed by.
func TestLongDelayOfAServerIsInTheInterval(t *testing.T) {
	r := outsideCase(0, always(waiting(200*ms, 200*ms)))
	if r.Verdict == stats.Trusted || !r.Estimate.Covers(202*ms) || !r.Estimate.Covers(401*ms) {
		t.Errorf("202 to 402 ms: %s %+v %q", r.Verdict, r.Estimate, r.Reasons)
	}
}

// Others delay a server in seven of ten runs. The delay of an average run was taken off, which is less than that of the
// median run, and the result was trusted.
func TestDelaysThatComeAndGo(t *testing.T) {
	r := outsideCase(0, func(i int) (float64, seen) {
		if i%10 < 7 {
			return 420, waiting(20*ms, 20*ms)
		}
		return 400, waiting(0, 0)
	})
	if r.Verdict != stats.Trusted || !r.Estimate.Covers(402.1*ms) {
		t.Errorf("alone it takes 402 ms: %s %+v %q", r.Verdict, r.Estimate, r.Reasons)
	}
}

// What others used during the median run, by hand: twice the mean, with 20 ms of error for a stretch without gaps. Those of
// several stretches add up as errors do.
func TestOthersUsually(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, c := range map[string]struct {
		around []neighbours // of runs of 100 ms
		wantMs float64
	}{
		"looks without gaps":     {[]neighbours{{passedNs: 100 * ms, othersNs: 30 * ms, stretches: 1}, {passedNs: 100 * ms, othersNs: 30 * ms}}, 2 * (2*30 + 20) / 2},
		"rounded down":           {[]neighbours{{passedNs: 100 * ms, othersNs: -30 * ms, stretches: 1}}, 0},
		"a look at each":         {slices.Repeat([]neighbours{{passedNs: 100 * ms, othersNs: 30 * ms, stretches: 1}}, 4), 2 * (4*30 + 2*20) / 4},
		"a look at one of four":  {[]neighbours{{}, {}, {}, {passedNs: 100 * ms, othersNs: 30 * ms, stretches: 1}}, 2 * (30 + 20)},
		"a look that covers all": {[]neighbours{{}, {}, {}, {passedNs: 400 * ms, othersNs: 120 * ms, stretches: 1}}, 2 * (120 + 20) / 4},
		"one is not known":       {[]neighbours{{passedNs: 100 * ms, stretches: 1}, {passedNs: 100 * ms, othersNs: nan, stretches: 1}}, inf},
		"another's /proc/stat":   {[]neighbours{{passedNs: 100 * ms, othersNs: -70 * ms, stretches: 1}}, inf},
		"no look":                {[]neighbours{{}, {}}, inf},
	} {
		all := conclusion{Result: &Result{}}
		for _, n := range c.around {
			all.Runs = append(all.Runs, Run{Run: process.Run{WallNs: 100 * ms}, around: n})
		}
		if got := all.othersUsuallyNs() / ms; got != c.wantMs {
			t.Errorf("%s: %v ms, want %v", name, got, c.wantMs)
		}
	}
}

// A lower bound below the CPU time, as of a program that worked because it was late, stays there: it rose to the CPU time.
func TestDelaysRaiseNoBound(t *testing.T) {
	r := Run{leastNs: 100, outsideNs: 5, Others: process.OthersUse{Known: true, CPUNs: 5, WaitNs: 5}}
	r.traced.threads = 1
	c := conclusion{Result: &Result{}, used: []*Run{&r}, low: []float64{90}}
	if c.allowForOutside(); c.low[0] > 90 {
		t.Errorf("from 90 to %v", c.low[0])
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
		r := outsideCase(s.sleeps, always(waiting(400*ms, 200*ms)))
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
