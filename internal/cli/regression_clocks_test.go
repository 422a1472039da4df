package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"chronoscope/compare"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// rankedClock holds the best and the third best of a clock's rounds.
type rankedClock struct {
	name                string
	cost, thirdCost     float64 // in ns
	spread, thirdSpread float64
	verdict             stats.Verdict
}

func (c rankedClock) rating() timermeter.Rating {
	between := func(best, third float64, unit string) stats.Estimate {
		opposite := best * best / third
		return stats.Estimate{Value: best, Lo: math.Min(third, opposite), Hi: math.Max(third, opposite), Unit: unit, N: 20}
	}
	c.thirdCost = math.Max(c.thirdCost, c.cost+0.5/3.7) // half a cycle of a core at 3.7 GHz
	quality := func(cost, spread float64) float64 { return timermeter.Quality(40, cost*4, spread) }
	return timermeter.Rating{
		Name: c.name, Runtime: "go", Accuracy: stats.Estimate{Value: 10, Lo: 10, Hi: 10, Unit: "ns", N: 1000}, Quality: stats.FloatOf(quality(c.cost, c.spread)),
		LeastDisturbed: &timermeter.LeastDisturbed{
			Cost: between(c.cost, c.thirdCost, "ns"), Quality: between(quality(c.cost, c.spread), quality(c.thirdCost, c.thirdSpread), "share"),
		},
		Judgement: stats.Judgement{Verdict: c.verdict},
	}
}

// rankingOf returns a record that recommends four of the clocks.
func rankingOf(clocks []rankedClock) record.Clocks {
	advise := func(name string) *string { return &name }
	d := record.Clocks{Header: record.Header{Machine: &machine.Machine{}}}
	d.Best = timermeter.Best{Wall: advise("monotonic"), CPU: advise("thread-cputime"), Timestamp: advise("realtime"), Counter: advise("tsc")}
	for _, c := range clocks {
		d.Clocks = append(d.Clocks, c.rating())
	}
	return d
}

// gateOf returns the exit status of compare with a limit of 5 %.
func gateOf(t *testing.T, a, b record.Clocks) int {
	t.Helper()
	d, err := compare.Subjects(record.Header{}, []compare.Subject{{Name: "A", Document: a}, {Name: "B", Document: b}})
	if err != nil {
		t.Fatal(err)
	}
	return ExitStatus(settings{mostRegression: 0.05, regression: "5%"}.outcome(judged(d)))
}

// costing returns the ranking with one clock's cost multiplied by times.
func costing(clocks []rankedClock, name string, times float64) []rankedClock {
	changed := append([]rankedClock{}, clocks...)
	for i := range changed {
		if changed[i].name == name {
			changed[i].cost *= times
			changed[i].thirdCost *= times
		}
	}
	return changed
}

// advisedClocks are those that [rankingOf] recommends.
var advisedClocks = []string{"monotonic", "thread-cputime", "realtime", "tsc"}

// The rankings were recorded on one machine, seconds to minutes apart, beside builds; some were
// disturbed for their whole length. No pair of them is a regression. If a clock costs 20 % more,
// many pairs are a regression, and none passes.
func TestRecordedRankings(t *testing.T) {
	runs := recordedRankings(t)
	unchanged, planted := map[int]int{}, map[int]int{}
	for i := range runs {
		for k := range runs {
			if i == k {
				continue
			}
			unchanged[gateOf(t, rankingOf(runs[i]), rankingOf(runs[k]))]++
			planted[gateOf(t, rankingOf(runs[i]), rankingOf(costing(runs[k], advisedClocks[(i+k)%4], 1.2)))]++
		}
	}
	t.Logf("exit status of pairs: unchanged %v, one clock 20 %% more %v", unchanged, planted)
	if unchanged[3] > 0 || unchanged[0] < len(runs)*len(runs)/5 {
		t.Errorf("unchanged: %v", unchanged)
	}
	if planted[0] > 0 || planted[3] < len(runs)*len(runs)/4 {
		t.Errorf("a clock that costs 20 %% more: %v", planted)
	}
}

func recordedRankings(t *testing.T) (runs [][]rankedClock) {
	t.Helper()
	text, err := os.ReadFile("testdata/rankings/quick.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		number := func(i int) float64 {
			x, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		if run := int(number(0)); run > len(runs) {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], rankedClock{name: f[1], cost: number(2), thirdCost: number(3), spread: number(4), thirdSpread: number(5), verdict: stats.Verdict(f[6])})
	}
	return runs
}

// Pairs of rankings are simulated with scatter like that of the recorded ones. In a third of the
// rankings every round is disturbed, by an amount that is the same for the whole ranking but
// differs between kinds of clocks. Of pairs without a change at most 1 in 100 is called a
// regression.
func TestSimulatedRankings(t *testing.T) {
	pairs := 200
	if n, err := strconv.Atoi(os.Getenv("CHRONOSCOPE_PAIRS")); err == nil {
		pairs = n
	}
	rng := rand.New(rand.NewPCG(16, 8))
	unchanged, planted := map[int]int{}, map[int]int{}
	for i := range pairs {
		a, b := simulatedRanking(rng), simulatedRanking(rng)
		unchanged[gateOf(t, rankingOf(a), rankingOf(b))]++
		planted[gateOf(t, rankingOf(a), rankingOf(costing(b, advisedClocks[i%4], 1.2)))]++
	}
	t.Logf("exit status of %d pairs: unchanged %v, one clock 20 %% more %v", pairs, unchanged, planted)
	if chance := float64(pairs) / 100; float64(unchanged[3]) > chance+2*math.Sqrt(chance) || unchanged[0] < pairs/4 {
		t.Errorf("unchanged: %v", unchanged)
	}
	if planted[0] > pairs/200 || planted[3] < pairs/4 {
		t.Errorf("a clock that costs 20 %% more: %v", planted)
	}
}

// clockGroups are kinds of clocks: the largest cost that a disturbance of the whole ranking adds,
// how much single clocks scatter, and how much the disturbance reduces their spread.
var clockGroups = []struct {
	names                     string
	costNs                    float64
	disturbed, strays, spread float64
}{
	{"tsc tscp tsc-fenced", 15, 0.04, 0.005, 0},
	{"monotonic realtime boottime tai monotonic-raw gettimeofday go-time-now", 25, 0.08, 0.006, 0},
	{"monotonic-coarse realtime-coarse time", 6.5, 0.4, 0.04, 0},
	{"monotonic-syscall thread-cputime process-cputime perf-task-clock", 500, 0.25, 0.01, 0.6},
	{"clock times getrusage-self getrusage-thread", 600, 0.3, 0.015, 0},
}

// simulatedRanking draws the best and the third best of 20 rounds of each clock.
func simulatedRanking(rng *rand.Rand) (all []rankedClock) {
	level := 0.0 // of disturbance, for the whole ranking
	if rng.Float64() < 0.33 {
		level = 0.3 + 0.7*rng.Float64()
	}
	for _, g := range clockGroups {
		for i, name := range strings.Fields(g.names) {
			own := level * (0.7 + 0.5*rng.Float64())
			cost := g.costNs * (1 + float64(i)/10) * math.Exp(g.strays*rng.NormFloat64()+own*g.disturbed)
			gap := math.Exp(rng.ExpFloat64() * (0.3*g.strays + 0.1*own*g.disturbed))
			spread := (1 - 0.02*rng.Float64()) * (1 - own*g.spread)
			all = append(all, rankedClock{name: name, cost: cost, thirdCost: cost * gap, spread: spread, thirdSpread: spread * math.Exp(-rng.ExpFloat64()*(0.003+0.1*own*g.spread)), verdict: stats.Trusted})
		}
	}
	return all
}

// Two clocks are too few to estimate how much costs scatter between rankings; the message says what
// to do.
func TestTooFewClocksForAGate(t *testing.T) {
	two := []rankedClock{{name: "tsc", cost: 10, thirdCost: 10.01, spread: 1, thirdSpread: 1, verdict: stats.Trusted}, {name: "monotonic", cost: 25, thirdCost: 25.01, spread: 1, thirdSpread: 1, verdict: stats.Trusted}}
	d, err := compare.Subjects(record.Header{}, []compare.Subject{{Name: "A", Document: rankingOf(two)}, {Name: "B", Document: rankingOf(costing(two, "tsc", 1.2))}})
	if err != nil {
		t.Fatal(err)
	}
	err = settings{mostRegression: 0.05, regression: "5%"}.outcome(judged(d))
	if ExitStatus(err) != 1 || !strings.Contains(fmt.Sprint(err), "rank all clocks in both") {
		t.Errorf("%v", err)
	}
}
