package gobench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"
	"time"

	"chronoscope/stats"
)

// placed is a suite whose binaries have their functions at other places, and take longer or shorter for
// it as long as they are the same.
type placed struct {
	*suite
	factors map[string]float64 // of a benchmark in a binary
	scatter float64
}

func (p *placed) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	key := b.Name + b.Binary
	if _, known := p.factors[key]; !known {
		p.factors[key] = math.Exp(p.scatter * p.rng.NormFloat64())
	}
	o, err := p.suite.Run(ctx, b, n, traced)
	o.TimedNs *= p.factors[key]
	o.CPUNs, o.WallNs = o.TimedNs+1e6, o.TimedNs+1e6
	return o, err
}

// placedSuite returns how many of the suites fail, with the given number of layouts of each revision.
func placedSuites(suites, benchmarks, layouts int, slower float64) (failed, found int) {
	fails, finds := make([]bool, suites), make([]bool, suites)
	parallel(suites, func(i int) {
		rng := rand.New(rand.NewPCG(uint64(i), uint64(layouts)))
		s := &placed{&suite{rng: rng, pairs: map[string]int{}, deviation: map[string]float64{}, slower: map[string]float64{"Benchmark1": slower}}, map[string]float64{}, 0.01}
		var groups [][]Benchmark
		for k := range benchmarks {
			name := fmt.Sprintf("Benchmark%d", k)
			s.deviation[name] = 0.004
			group := []Benchmark{{Name: name, Revision: "then"}, {Name: name}}
			for g := range group {
				for l := range layouts {
					group[g].Layouts = append(group[g].Layouts, fmt.Sprintf("%d.%d", g, l))
				}
				group[g].Binary = group[g].Layouts[0]
			}
			groups = append(groups, group)
		}
		plan, setting := QuickPlan, Setting{CPUs: 2}
		plan.Seed, plan.MaxTime, plan.Gate = uint64(i), 2*time.Second, &Gate{Limit: 0.005}
		measured, err := Measure(background, s, groups, plan, setting, nil)
		if err != nil {
			panic(err)
		}
		var all []Comparison
		for _, group := range measured {
			all = append(all, Compare(Conclude(group[0], plan, setting), Conclude(group[1], plan, setting), 2*plan.Precision, plan.Seed))
		}
		for k, j := range Judge(all, plan) {
			isSlower := slower > 1 && k == 1
			finds[i] = finds[i] || isSlower && j.Side == stats.Beyond
			fails[i] = fails[i] || !isSlower && j.Side == stats.Beyond
		}
	})
	return trues(fails), trues(finds)
}

// An edit that moves code makes a benchmark 1 % slower or faster for good. With one layout nearly
// every suite fails for it; with several, hardly any does, and 8 % more is still seen.
func TestLayoutIsNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	suites := 60 * cases(t)
	const benchmarks = 5
	alone, _ := placedSuites(suites, benchmarks, 1, 1)
	failed, _ := placedSuites(suites, benchmarks, 8, 1)
	_, found := placedSuites(suites, benchmarks, 8, 1.08)
	t.Logf("of %d suites of equal code %d fail with one layout, %d with eight; 8 %% more is found in %d", suites, alone, failed, found)
	if alone < suites/2 {
		t.Errorf("%d of %d suites fail with one layout: nothing is to be mended", alone, suites)
	}
	if most := atMost(suites, stats.FalseAlarms); failed > most {
		t.Errorf("%d of %d suites fail with eight layouts, want at most %d", failed, suites, most)
	}
	if found < atLeast(suites) {
		t.Errorf("8 %% more is found in %d of %d suites, want %d", found, suites, atLeast(suites))
	}
}

// The scatter of layouts is that beyond the scatter of pairs.
func TestPlacement(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var squares, none []float64
	for range 300 {
		var logs, still []float64
		var at []int
		layouts := make([]float64, 6)
		for l := range layouts {
			layouts[l] = 0.02 * rng.NormFloat64()
		}
		for i := range 36 {
			noise := 0.01 * rng.NormFloat64()
			logs, still, at = append(logs, layouts[i%6]+noise), append(still, noise), append(at, i)
		}
		squares = append(squares, math.Pow(placementOf(logs, at, 6).deviation, 2))
		none = append(none, placementOf(still, at, 6).deviation)
	}
	if mean := math.Sqrt(mean(squares)); math.Abs(mean-0.02) > 0.003 {
		t.Errorf("layouts that scatter by 2 %% are said to scatter by %.2g", mean)
	}
	if m := mean(none); m > 0.004 {
		t.Errorf("layouts that don't scatter are said to, by %.2g", m)
	}
	if p := placementOf([]float64{1, 2}, []int{0, 1}, 1); p.margin(1, 1, 0.01) != 1 {
		t.Error("a single layout has a margin")
	}
}

func mean(all []float64) (m float64) {
	for _, x := range all {
		m += x / float64(len(all))
	}
	return m
}

// Each layout is another binary of the same benchmarks, and a linker's flag of the user's stands
// beside that of the layout.
func TestLayoutsAreLinked(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	built, err := Compile(background, "testdata/memo", t.TempDir(), []string{"."}, Building{Layouts: 3, Seed: 7, LDFlags: "-s"})
	if err != nil || len(built.Failed) > 0 || len(built.Tests) != 1 || len(built.Tests[0].Layouts) != 3 {
		t.Fatalf("%+v: %v", built, err)
	}
	for i, binary := range built.Tests[0].Layouts {
		test := built.Tests[0]
		test.Binary = binary
		found, err := Processes{}.Discover(background, test, ".")
		if err != nil || len(found.Benchmarks) == 0 {
			t.Errorf("layout %d: %+v: %v", i, found, err)
		}
	}
	if flags := (Building{LDFlags: "-X a.b=c", Seed: 1}).link(1); len(flags) != 1 || !slices.Contains([]string{"-ldflags=-X a.b=c -randlayout=" + flags[0][len("-ldflags=-X a.b=c -randlayout="):]}, flags[0]) {
		t.Errorf("%q", flags)
	}
	if flags := (Building{}).link(0); flags != nil {
		t.Errorf("the usual layout has flags: %q", flags)
	}
}

// Each process has an environment of another size, from the whole range, so that no revision has one place of the stack in
// all of its processes. The same seed draws the same sizes.
func TestStacksBeginElsewhere(t *testing.T) {
	sizes := func(seed uint64) (all []int) {
		runner := &paddings{Runner: recordedCores(t, 1)[0]}
		plan := QuickPlan
		plan.Seed = seed
		compareOn(runner, []string{"BenchmarkX"}, plan)
		return runner.all
	}
	all := sizes(1)
	if again := sizes(1); !slices.Equal(all, again) {
		t.Error("the same seed draws other sizes")
	}
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n < 9*len(all)/10 || all[0] < 0 || all[0] > 500 || all[len(all)-1] >= mostPadding || all[len(all)-1] < mostPadding-500 {
		t.Errorf("%d sizes of %d processes, from %d to %d", n, len(all), all[0], all[len(all)-1])
	}
}

// paddings is a runner that notes by how much environments are lengthened.
type paddings struct {
	Runner
	all []int
}

func (p *paddings) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	p.all = append(p.all, b.Padding)
	return p.Runner.Run(ctx, b, n, traced)
}

// A suite of one benchmark whose layouts differ by 2 % fails by chance one time in 100, however few layouts there are: their scatter
// is an estimate. By the normal distribution it failed one time in 10 with two layouts, and one in 40 with four.
func TestFewLayouts(t *testing.T) {
	const draws = 1000
	plan := quickGate(time.Second, 0)
	for _, layouts := range []int{2, 3, 4, 8} {
		rng := rand.New(rand.NewPCG(uint64(layouts), 5))
		failed, called := 0, 0
		for range draws {
			places := make([]float64, layouts)
			for i := range places {
				places[i] = 0.02 * rng.NormFloat64()
			}
			c := Comparison{A: &Result{}, B: &Result{}}
			var logs []float64
			var at []int
			for i := range 10 * layouts {
				x := places[i%layouts] + 0.01*rng.NormFloat64()
				y := math.Exp(x)
				logs, at = append(logs, x), append(at, i)
				c.pairs.Add(stats.Bounded{Lo: 1, Mid: 1, Hi: 1}, stats.Bounded{Lo: y, Mid: y, Hi: y})
			}
			c.placed = placementOf(logs, at, layouts)
			c.decide(0, 1)
			j := Judge([]Comparison{c}, plan)[0]
			if j.Side == stats.Beyond {
				failed++
			}
			if j.Outcome == stats.Slower || j.Outcome == stats.Faster {
				called++
			}
		}
		t.Logf("%d layouts: %d of %d fail, %d are called slower or faster", layouts, failed, draws, called)
		if most := atMost(draws, stats.FalseAlarms); failed > most || called > most {
			t.Errorf("%d layouts: %d of %d fail, %d are called slower or faster, want at most %d", layouts, failed, draws, called, most)
		}
	}
}
