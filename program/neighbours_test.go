package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"chronoscope/process"
	"chronoscope/stats"
)

// A program of 50 ms on one CPU of two, and another on the other CPU for some share of each run, beside
// which it takes (1 + slower) times as long. Beside one that is always there it was trusted, and off by
// up to 100 %.
func TestNeighbours(t *testing.T) {
	const cases, runs, workMs = 60, 40, 50
	always := func(*rand.Rand) float64 { return 0.97 }
	atTimes := func(rng *rand.Rand) float64 { return float64(rng.IntN(2)) * 0.97 }
	moreOrLess := func(rng *rand.Rand) float64 { return 0.3 + 0.7*rng.Float64() }
	seldom := func(rng *rand.Rand) float64 { return 0.003 * rng.ExpFloat64() }
	for _, c := range []struct {
		name   string
		share  func(*rand.Rand) float64
		slower float64
		// keptMs is the time for which another program had its own CPU, or, below 0, it slept; hidden says that processes came and
		// went, so that only /proc/stat tells of them.
		keptMs         float64
		hidden         bool
		least, most    int // how many are trusted
		reasonContains string
	}{
		{"always, slow", always, 0.4, 0, false, 0, 0, "shared caches and memory may have slowed it by up to 9"},
		{"always, no matter", always, 0, 0, false, 0, 0, "used other CPUs for 97 % of its time"},
		{"always, seen by /proc/stat", always, 0.4, 0, true, 0, 0, "used other CPUs for 9"},
		{"always, and others on its own CPU", always, 0.4, 80, false, 0, 0, "used other CPUs for 97 %"},
		{"always, but it sleeps", always, 0, -49.5, false, cases, cases, ""},
		{"at times, slow", atTimes, 0.4, 0, false, 0, cases, ""},
		{"at times, a little slow", atTimes, 0.03, 0, false, 55, cases, ""},
		{"at times, no matter", atTimes, 0, 0, false, 55, cases, ""},
		{"more or less, slow", moreOrLess, 0.4, 0, false, 0, 0, "used other CPUs"},
		{"more or less, no matter", moreOrLess, 0, 0, false, 50, cases, "used other CPUs"},
		{"calm", seldom, 0.4, 0, false, cases, cases, ""},
		{"calm, seen by /proc/stat", seldom, 0.4, 0, true, cases, cases, ""},
		{"others on its own CPU", seldom, 0.4, 80, false, cases, cases, ""},
		{"others on its own CPU, seen by /proc/stat", seldom, 0.4, 80, true, cases, cases, ""},
	} {
		trusted, covered := 0, 0
		for seed := range cases {
			rng := rand.New(rand.NewPCG(uint64(seed), 0x16))
			s := series{probed: true}
			r := s.concluded(runs, func(int) Run {
				x := c.share(rng)
				if c.keptMs < 0 {
					run := sleptFor(workMs+c.keptMs, -c.keptMs)
					run.Others = process.OthersUse{Known: true, CPUNs: int64(x * float64(run.WallNs)), ElsewhereNs: int64(x * float64(run.WallNs)), PassedNs: run.WallNs}
					return run
				}
				run := keptFor(workMs*(1+c.slower*x)*math.Exp(0.003*rng.NormFloat64()), c.keptMs)
				elsewhereNs := x * float64(run.WallNs)
				run.around = neighbours{passedNs: float64(run.WallNs), elsewhereNs: elsewhereNs + c.keptMs*ms}
				if !c.hidden {
					run.Others = process.OthersUse{Known: true, CPUNs: int64(elsewhereNs + c.keptMs*ms), WaitNs: run.WallNs, ElsewhereNs: int64(elsewhereNs), PassedNs: run.WallNs}
				}
				return run
			})
			if r.Estimate.Covers(workMs * ms) {
				covered++
			}
			if r.Verdict != stats.Trusted {
				if !strings.Contains(strings.Join(r.Reasons, "; "), c.reasonContains) {
					t.Errorf("%s: %q", c.name, r.Reasons)
				}
				continue
			}
			trusted++
			if off := math.Abs(r.Estimate.Value/(workMs*ms) - 1); off > math.Max(0.01, 2*r.Estimate.RelativeHalfWidth()) {
				t.Errorf("%s: wrongly trusted: %+v for %v ms", c.name, r.Estimate, workMs)
			}
		}
		t.Logf("%-44s trusted %d of %d, covered %d", c.name, trusted, cases, covered)
		if c.name[:2] == "at" && covered < atLeast(cases) {
			t.Errorf("%s: covered %d of %d", c.name, covered, cases)
		}
		if trusted < c.least || trusted > c.most {
			t.Errorf("%s: trusted %d of %d, want %d to %d", c.name, trusted, cases, c.least, c.most)
		}
	}
}

// A program computes for 14 ms, and sleeps for 30, which it may have waited for less: its runs are only bounded.
// Programs come and go on other CPUs, and add nothing or 30 % to its CPU time. They tell what they add by the CPU
// time; the middles of the bounds did not.
func TestNeighboursOfAProgramThatSleeps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, slower := range []float64{0, 0.3} {
		c := conclusion{Result: &Result{}}
		for range 40 {
			x := rng.Float64()
			ranNs := 14 * ms * (1 + slower*x) * math.Exp(0.003*rng.NormFloat64())
			r := &Run{LowNs: ranNs + 30*ms, HighNs: ranNs + (30+12*rng.Float64())*ms, noted: true, elsewhere: x}
			r.traced.ranNs = ranNs
			c.used, c.low, c.high = append(c.used, r), append(c.low, r.LowNs), append(c.high, r.HighNs)
		}
		c.allowForNeighbours()
		low, lost := stats.Median(c.low), c.neighbours.Lost
		if c.neighbours.Guessed() || lost.Hi-lost.Lo > 0.03 || low > 44.2*ms || low < 43*ms {
			t.Errorf("%g slower: guessed %v, lost %+v, at least %g ns, want 44 ms", slower, c.neighbours.Guessed(), lost, low)
		}
	}
}

// sleptFor is a program that works, and sleeps in between.
func sleptFor(workMs, sleepMs float64) Run {
	end := workMs + sleepMs
	events := begun().at(workMs/2, process.Blocked, 1, 1, 0).at(workMs/2+sleepMs, process.SwitchedIn, 1, 1, 0).at(end, process.Exited, 1, 1, 0)
	run := events.run(end, workMs, process.Thread{ID: 1, CPUNs: int64(workMs * ms), ReadNs: int64(end * ms)})
	run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), 0
	return run
}

// A program sends a daemon work in two of three runs, and works for 16 % longer in these itself. That was taken for
// what the daemon added: 4.9 ms were trusted for 5.6.
func TestNeighboursThatTheProgramGivesWork(t *testing.T) {
	const workMs, slower = 50, 1.16
	rng := rand.New(rand.NewPCG(7, 0x16))
	s := series{probed: true}
	r := s.concluded(160, func(i int) Run {
		ms, others := workMs*math.Exp(0.003*rng.NormFloat64()), 0.001
		if i%3 > 0 {
			ms, others = slower*ms, 0.3
		}
		run := keptFor(ms, 0)
		used := int64(others * float64(run.WallNs))
		run.Others = process.OthersUse{Known: true, CPUNs: used, ElsewhereNs: used, PassedNs: run.WallNs}
		return run
	})
	if e := r.Estimate; e.Hi < 0.99*slower*workMs*1e6 {
		t.Errorf("%v to %v ms, %s: it usually takes %v", e.Lo/1e6, e.Hi/1e6, r.Verdict, slower*workMs)
	}
}

// Under lxcfs processes are hidden and /proc/stat holds the time of the container only, which was taken for that of all: a
// program beside a memory hog of the host was trusted.
func TestNeighboursThatNothingShows(t *testing.T) {
	for _, c := range []struct {
		name     string
		othersNs float64
		looks    int
		want     stats.Verdict
	}{
		{"lxcfs", math.NaN(), 1, stats.Suspect},
		{"rounded down", -3 * ms, 1, stats.Trusted},
		{"none", 0, 1, stats.Trusted},
		{"no look", 0, 0, stats.Trusted},
	} {
		s := series{probed: true}
		r := s.concluded(40, func(int) Run {
			run := keptFor(50, 0)
			run.around = neighbours{passedNs: float64(c.looks) * float64(run.WallNs), elsewhereNs: c.othersNs}
			return run
		})
		if said := strings.Contains(strings.Join(r.Reasons, "; "), "other CPUs is not known here"); r.Verdict != c.want || said != (c.want == stats.Suspect) {
			t.Errorf("%s: %s, %q", c.name, r.Verdict, r.Reasons)
		}
	}
}

// What others used is known of half of the runs: nothing. The other runs, which took 5 % longer, were taken to have had a program
// on each other CPU, and a slope between what was seen and what was not was taken off.
func TestNeighboursThatSomeRunsShow(t *testing.T) {
	s := series{probed: true}
	r := s.concluded(40, func(i int) Run {
		known := i%2 == 0
		run := keptFor(50, 0)
		if !known {
			run = keptFor(52.5, 0)
		}
		run.around = neighbours{passedNs: float64(run.WallNs), elsewhereNs: math.NaN()}
		run.Others = process.OthersUse{Known: known, PassedNs: run.WallNs}
		return run
	})
	reasons := strings.Join(r.Reasons, "; ")
	if r.Verdict != stats.Suspect || !strings.Contains(reasons, "other CPUs is not known here") || strings.Contains(r.Explanation, "beside programs") || r.Estimate.Lo < 49.9*ms {
		t.Errorf("%s, %q, %q, from %v ms on", r.Verdict, reasons, r.Explanation, r.Estimate.Lo/ms)
	}
	// One that hardly runs is not slowed.
	s = series{probed: true}
	r = s.concluded(20, func(int) Run {
		run := sleptFor(0.05, 100)
		run.around = neighbours{passedNs: float64(run.WallNs), elsewhereNs: math.NaN()}
		return run
	})
	if strings.Contains(strings.Join(r.Reasons, "; "), "other CPUs is not known here") {
		t.Errorf("it sleeps: %q", r.Reasons)
	}
}

// One run of 40 is not seen, because a process came and went. All that the others show was thrown away.
func TestNeighboursThatMostRunsShow(t *testing.T) {
	for hidden, want := range map[int]stats.Verdict{1: stats.Trusted, 4: stats.Trusted, 8: stats.Suspect} {
		rng := rand.New(rand.NewPCG(7, 0x16))
		s := series{probed: true}
		r := s.concluded(40, func(i int) Run {
			x := 0.97 * float64(rng.IntN(2))
			run := keptFor(50*(1+0.03*x)*math.Exp(0.003*rng.NormFloat64()), 0)
			run.around = neighbours{passedNs: float64(run.WallNs), elsewhereNs: math.NaN()}
			used := int64(x * float64(run.WallNs))
			run.Others = process.OthersUse{Known: i >= hidden, CPUNs: used, ElsewhereNs: used, PassedNs: run.WallNs}
			return run
		})
		if r.Verdict != want || strings.Contains(r.Explanation, "beside programs on other CPUs") != (want == stats.Trusted) || want == stats.Trusted && r.Estimate.Lo > 50*ms {
			t.Errorf("%d runs are not seen: %s %q, %q, %+v", hidden, r.Verdict, r.Reasons, r.Explanation, r.Estimate)
		}
	}
}

// On a machine with one CPU nothing runs on others. What others used of it between the runs was taken for that.
func TestNeighboursOnOneCPU(t *testing.T) {
	file := &fstest.MapFile{}
	stat := func(ticks int) {
		file.Data = fmt.Appendf(nil, "cpu  %d 0 0 100 0 0 0 0 0 0\ncpu0 %[1]d 0 0 100 0 0 0 0 0 0\n", ticks)
	}
	for _, oneCPU := range []bool{true, false} {
		stat(9000)
		r := newRunner(Setting{Root: fstest.MapFS{"proc/stat": file}})
		r.whole, r.oneCPU = true, oneCPU
		stat(9000 + 3600*100) // an hour, of which this process has a part
		if r.look(); (r.seen.elsewhereNs == 0) != oneCPU || (r.seen.elsewhereNs > 1000e9) == oneCPU || !(r.seen.passedNs > 0) {
			t.Errorf("one CPU: %v: %v ns on others in %v", oneCPU, r.seen.elsewhereNs, r.seen.passedNs)
		}
		r.close()
	}
}

func TestLooksUnderLXCFS(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "proc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "proc/stat"), []byte("cpu  9000000 0 0 100 0 0 0 0 0 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRunner(Setting{Root: os.DirFS(dir)})
	defer r.close()
	if r.look(); !math.IsNaN(r.seen.othersNs) || !math.IsNaN(r.seen.elsewhereNs) {
		t.Errorf("%+v: what others used is not known", r.seen)
	}
}
