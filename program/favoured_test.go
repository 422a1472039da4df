package program

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/process"
	"chronoscope/stats"
)

// A program of 25 ms waits for 75 ms in each run. At the highest niceness it waits less, unless control groups divide the
// CPU, and uses 20 ms, or as much as ever.
func TestCPUTimeAtTheHighestNiceness(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for name, c := range map[string]struct{ favouredMs, keptMs, wantMs float64 }{
		"its data are displaced":   {20, 3, 5},
		"it uses as much":          {25, 3, 0},
		"the core is a bit faster": {24.8, 3, 0},
		"it waits as long":         {20, 75, 0},
	} {
		k := conclusion{Result: &Result{}, series: &series{}}
		for range 21 {
			r := &Run{noted: true}
			r.traced.ranNs, r.traced.deficientNs = 25*ms+0.05*ms*rng.NormFloat64(), 75*ms
			k.used = append(k.used, r)
		}
		for range favouredRuns {
			k.series.favoured = append(k.series.favoured, contendedRun{c.favouredMs * ms, c.keptMs * ms})
		}
		if got := k.coldNs(); math.Abs(got-c.wantMs*ms) > 0.1*ms {
			t.Errorf("%s: %g ns, want %g ms", name, got, c.wantMs)
		}
		if k.series.favoured = k.series.favoured[:1]; k.coldNs() != 0 {
			t.Errorf("%s: one run tells", name)
		}
	}
}

// Runs at the highest niceness are made where a program had to wait, don't count, and are no failure where they are refused.
func TestFavoured(t *testing.T) {
	for name, c := range map[string]struct {
		waitMs, nice, made int
		refused            bool
	}{
		"it waits":            {5, 0, favouredRuns, false},
		"it hardly waits":     {0, 0, 0, false},
		"it has a niceness":   {5, 5, 0, false},
		"that is not allowed": {5, 0, 0, true},
	} {
		run := func(_ context.Context, cmd Command, _ bool) (Run, error) {
			if cmd.Nice == favouredNice && c.refused {
				return Run{}, &process.PriorityError{Nice: cmd.Nice}
			}
			wait := int64(c.waitMs) * ms
			return Run{RunqueueWaitNs: float64(wait), Run: process.Run{Untraced: errTimeout, WallNs: 10*ms + wait, UserNs: 10 * ms, WaitOf: process.FirstThread, Threads: []process.Thread{{ID: 1, CPUNs: 10 * ms, WaitNs: wait}}}}, nil
		}
		s := &series{command: Command{Command: process.Command{Nice: c.nice}}, probed: true}
		m := measurement{plan: Plan{MaxTime: time.Minute, Precision: 0.01}, run: run, all: []*series{s}}
		for range fewestChosen {
			r, _ := run(context.Background(), s.command, false)
			s.take(context.Background(), &r, 1)
			s.runs, s.spentNs = append(s.runs, r), s.spentNs+20*ms
		}
		if err := m.favour(context.Background()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		made := s.runs[fewestChosen:]
		if len(made) != c.made {
			t.Errorf("%s: %d runs were made, want %d", name, len(made), c.made)
		}
		for _, r := range made {
			if !r.Rejected || !strings.Contains(strings.Join(r.Why, ""), "niceness") {
				t.Errorf("%s: %v %v", name, r.Rejected, r.Why)
			}
		}
	}
}

// A program of 20 ms waits for 10 ms in each run. If it uses 16 ms where it keeps its CPU, it may take 16 ms.
func TestDisplacedDataIsInTheInterval(t *testing.T) {
	for favouredMs, leastMs := range map[float64]float64{16: 15.5, 20: 19.5} {
		s := series{probed: true}
		for range favouredRuns {
			s.favoured = append(s.favoured, contendedRun{favouredMs * ms, 0})
		}
		r := s.concluded(30, func(i int) Run { return keptFor(20+0.001*float64(i%5), 10) })
		if lo := r.Estimate.Lo / ms; lo < leastMs || lo > favouredMs || !r.Estimate.Covers(20*ms) {
			t.Errorf("%v ms at the highest niceness: %v to %v ms", favouredMs, lo, r.Estimate.Hi/ms)
		}
	}
}

// A program of 50 ms is kept waiting for 100 ms in each run, 20 times, which costs it 10 µs each, and neighbours leave much
// to refill. In the runs at the highest niceness it is kept for 1 ms, once: its time rests on those, and how long it took
// by the clock on the others. Runs that were kept as long, or did something else, tell no more.
func TestEstimateOfFavouredRuns(t *testing.T) {
	noisy := quiet
	noisy.Noise.RefillNs, noisy.Noise.Refills = 100e3, 10
	for name, c := range map[string]struct {
		favoured, keptMs, workMs float64 // the number of runs at the highest niceness, and what they did
		blockedMs                float64 // of the others
		hz                       float64 // the core's rate in the runs at the highest niceness; the others had 3 GHz
		isBest                   bool
	}{
		"hardly kept":            {20, 1, 50.01, 0, 3e9, true},
		"too few":                {9, 1, 50.01, 0, 3e9, false},
		"kept as long":           {20, 100, 50.01, 0, 3e9, false},
		"they did less":          {20, 1, 38, 0, 3e9, false},
		"they did more":          {20, 1, 57, 0, 3e9, false},
		"the others blocked":     {20, 1, 50.01, 5, 3e9, false},
		"the core ran otherwise": {20, 1, 50.01, 0, 2.9e9, true},
	} {
		s := &series{probed: true, peak: 30 << 20}
		add := func(n int, workMs, keptMs, blockedMs float64, times int, hz float64, favoured bool) {
			for i := range n {
				events, each := begun(), workMs/float64(times+1)
				at := 0.0
				for range times {
					at += each
					events = events.at(at, process.Preempted, 1, 1, 0)
					at += keptMs / float64(times)
					events = events.at(at, process.SwitchedIn, 1, 1, 0)
				}
				if blockedMs > 0 {
					events = events.at(at+0.5, process.Blocked, 1, 1, 0).at(at+0.5+blockedMs, process.SwitchedIn, 1, 1, 0)
				}
				end := workMs + keptMs + blockedMs + 0.01*float64(i%5)
				run := events.at(end, process.Exited, 1, 1, 0).run(end, end-keptMs-blockedMs, process.Thread{ID: 1, CPUNs: int64((end - keptMs - blockedMs) * ms), WaitNs: int64(keptMs * ms), ReadNs: int64(end * ms)})
				run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = hz, math.NaN(), math.NaN(), keptMs*ms
				s.take(background, &run, 1)
				if run.favoured, run.Rejected = favoured, favoured; favoured {
					s.favouredNs = append(s.favouredNs, float64(run.WallNs))
				}
				s.runs, s.rounds = append(s.runs, run), append(s.rounds, len(s.rounds))
			}
		}
		add(30, 50.2, 100, c.blockedMs, 20, 3e9, false)
		add(int(c.favoured), c.workMs, c.keptMs, 0, 1, c.hz, true)
		r := conclude(s, DefaultPlan, noisy, noisy.checks())
		if r.selected != c.isBest || math.Abs(r.Wall.Value-(150.22+c.blockedMs)*ms) > ms || !r.Estimate.Covers(50*ms) {
			t.Errorf("%s: rests on them: %v; %+v of %v: %s %q", name, r.selected, r.Estimate, r.Wall, r.Verdict, r.Reasons)
		}
		if drift := 1 - c.hz/3e9; c.isBest && (r.Verdict != stats.Trusted || r.Estimate.RelativeHalfWidth() > 0.01+drift || r.Estimate.RelativeHalfWidth() < drift) {
			t.Errorf("%s: %s, %+v %q", name, r.Verdict, r.Estimate, r.Reasons)
		}
	}
}

// Of runs at favouredNice interrupts take what looks at that niceness saw, and preemptions what the usual looks saw. After
// short looks interrupts may also take what the usual looks saw.
func TestInterruptsOfFavouredRuns(t *testing.T) {
	usual := machine.Noise{WatchedNs: 1e9, LostShare: 0.003, LossesPerSecond: 100, SwitchNs: 5e3, RefillNs: 4e3, Refills: 20}
	for watchedNs, holds := range map[float64]bool{1e9: false, 50e6: true} {
		s := &series{favouredChecks: env.ChecksOf(machine.Noise{WatchedNs: watchedNs, LostShare: 0.03, LossesPerSecond: 300})}
		n := s.noises(env.ChecksOf(usual))
		if got := n.favoured; got.LostShare != 0.03 || got.SwitchNs != 5e3 || got.MostColdNs(0) != usual.MostColdNs(0) || got.LessShare >= 0.027 != holds {
			t.Errorf("after %v ns: %+v", watchedNs, got)
		}
		if n.usual.LostShare != 0.003 || n.withoutInterrupts().favoured.LostShare != 0 {
			t.Errorf("%+v", n)
		}
	}
	if got := new(series).noises(env.ChecksOf(usual)); got.favoured.LostShare != 0.003 {
		t.Errorf("without such looks %+v", got.favoured)
	}
}
