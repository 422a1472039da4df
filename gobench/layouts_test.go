package gobench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

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

// placedSuites returns how many of the suites fail, with the given number of layouts of each revision, and with more if they
// don't tell enough and grows is set.
func placedSuites(suites, benchmarks, layouts int, grows bool, maxTime time.Duration, slower float64) (failed, found, grown int) {
	fails, finds, grew := make([]bool, suites), make([]bool, suites), make([]bool, suites)
	parallel(suites, func(i int) {
		rng := rand.New(rand.NewPCG(uint64(i), uint64(layouts)))
		s := &placed{&suite{rng: rng, pairs: map[string]int{}, deviation: map[string]float64{}, slower: map[string]float64{"Benchmark1": slower}}, map[string]float64{}, 0.01}
		var groups [][]Benchmark
		for k := range benchmarks {
			name := fmt.Sprintf("Benchmark%d", k)
			s.deviation[name] = 0.004
			group := []Benchmark{{Name: name, Revision: "then"}, {Name: name}}
			for g := range group {
				group[g].Binary, group[g].Orders = fmt.Sprintf("%d", g), &Orders{First: layouts, Link: func(_ context.Context, layout int) (string, error) {
					return fmt.Sprintf("%d.%d", g, layout), nil
				}}
			}
			if err := Arrange(background, group); err != nil {
				panic(err)
			}
			if !grows {
				group[0].Orders, group[1].Orders = nil, nil
			}
			groups = append(groups, group)
		}
		plan, setting := QuickPlan, Setting{CPUs: 2}
		plan.Seed, plan.MaxTime, plan.Gate = uint64(i), maxTime, &Gate{Limit: 0.005}
		measured, err := Measure(background, s, groups, plan, setting, nil)
		if err != nil {
			panic(err)
		}
		var all []Comparison
		for _, group := range measured {
			grew[i] = grew[i] || group[0].Benchmark.grown()
			all = append(all, Compare(Conclude(group[0], plan, setting), Conclude(group[1], plan, setting), 2*plan.Precision, plan.Seed))
		}
		for k, j := range Judge(all, plan) {
			isSlower := slower > 1 && k == 1
			finds[i] = finds[i] || isSlower && j.Side == stats.Beyond
			fails[i] = fails[i] || !isSlower && j.Side == stats.Beyond
		}
	})
	return trues(fails), trues(finds), trues(grew)
}

// An edit that moves code makes a benchmark 1 % slower or faster for good. With one layout nearly
// every suite fails for it; with several, hardly any does, and 8 % more is still seen.
func TestLayoutIsNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	suites := 60 * cases(t)
	const benchmarks = 5
	alone, _, _ := placedSuites(suites, benchmarks, 0, false, 2*time.Second, 1)
	failed, _, _ := placedSuites(suites, benchmarks, 8, false, 2*time.Second, 1)
	_, found, _ := placedSuites(suites, benchmarks, 8, false, 2*time.Second, 1.08)
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

// What eight layouts can't tell from placement is told by more of them, without a false alarm.
func TestMoreLayouts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	suites := 60 * cases(t)
	const benchmarks = 3
	_, few, _ := placedSuites(suites, benchmarks, 8, false, 6*time.Second, 1.025)
	_, found, grown := placedSuites(suites, benchmarks, 8, true, 6*time.Second, 1.025)
	t.Logf("2.5 %% more is found in %d of %d suites with eight layouts, and in %d if there may be more, which %d have", few, suites, found, grown)
	if found < atLeast(suites) || few > suites/2 {
		t.Errorf("2.5 %% more is found in %d of %d suites with eight layouts, and in %d if there may be more", few, suites, found)
	}
	failed, _, grown := placedSuites(suites, benchmarks, 8, true, 6*time.Second, 1)
	mayFail(t, failed, suites, "%d suites have more layouts", grown)
}

// The scatter of layouts is that beyond the scatter of pairs.
func TestPlacement(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var squares, none []float64
	for range 300 {
		var logs, still []float64
		layouts := make([]float64, 6)
		for l := range layouts {
			layouts[l] = 0.02 * rng.NormFloat64()
		}
		for i := range 36 {
			noise := 0.01 * rng.NormFloat64()
			logs, still = append(logs, layouts[i%6]+noise), append(still, noise)
		}
		squares = append(squares, math.Pow(inTurn(logs, 6).placed.deviation, 2))
		none = append(none, inTurn(still, 6).placed.deviation)
	}
	if mean := math.Sqrt(mean(squares)); math.Abs(mean-0.02) > 0.003 {
		t.Errorf("layouts that scatter by 2 %% are said to scatter by %.2g", mean)
	}
	if m := mean(none); m > 0.004 {
		t.Errorf("layouts that don't scatter are said to, by %.2g", m)
	}
	if c := compared([]float64{1, 2}, []int{0, 1}, 0); c.placed.beyond(typicalPlacement{1, 9}, 1) != 0 || c.pairs.Len() != 2 {
		t.Error("a single layout tells of placement")
	}
	c := compared([]float64{0, 0, 0, 0}, []int{0, 2, 3, 5}, 2)
	lo, hi := c.placed.bounds(0.025)
	if c.placed.beyond(typicalPlacement{1, 9}, 0.1) != 1 || !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Error("pairs of one layout tell of placement")
	}
	if c := compared([]float64{0.01, 0.02}, []int{0, 1}, 4); !math.IsNaN(c.placed.deviation) || !(c.placed.ofCentres > 0) {
		t.Errorf("one pair in each layout: %+v", c.placed)
	}
}

// The usual layout has its own ratio, and no part in that of the layouts drawn at random. Pairs keep their numbers.
func TestUsualLayout(t *testing.T) {
	c := compared([]float64{0.01, 0.02, 0.5, 0.03, 0.04, 0.5}, []int{0, 1, 2, 3, 7, 8}, 2)
	if p := c.placed; math.Abs(p.own-math.Exp(0.5)) > 1e-9 || p.layouts != 2 || !slices.Equal(rounded(c.pairs.Logs()), []float64{0.01, 0.02, 0.03, 0.04}) {
		t.Errorf("%+v, %v are left", p, c.pairs.Logs())
	}
	for from, want := range map[int][]float64{0: {0.01, 0.02, 0.03, 0.04}, 1: {0.02, 0.03, 0.04}, 2: {0.03, 0.04}, 4: {0.04}, 8: nil} {
		if late, next := c.PairsFrom(from); !slices.Equal(rounded(late.Logs()), want) || next != 8 {
			t.Errorf("from %d on: %v, then %d", from, late.Logs(), next)
		}
	}
}

// compared returns the comparison of undisturbed times whose ratios have these logarithms and numbers.
func compared(logs []float64, at []int, layouts int) Comparison {
	c := Comparison{A: &Result{}, B: &Result{}, pairs: ratios(logs), at: at}
	b := Benchmark{Layouts: make([]string, layouts)}
	var made []Repetition
	for range 1 + slices.Max(append(at, 0)) {
		layout, _ := b.next(made)
		made = append(made, Repetition{Layout: layout})
	}
	c.place(b, made)
	return c
}

// inTurn returns the comparison whose pairs were made in each of the layouts in turn; those in the usual one are missing.
func inTurn(logs []float64, layouts int) Comparison {
	at := make([]int, len(logs))
	for i := range at {
		at[i] = i/layouts*(layouts+1) + i%layouts
	}
	return compared(logs, at, layouts)
}

func rounded(all []float64) (near []float64) {
	for _, x := range all {
		near = append(near, math.Round(x*1e9)/1e9)
	}
	return near
}

// ratios returns pairs of undisturbed times whose ratios have these logarithms.
func ratios(logs []float64) (pairs stats.Pairs) {
	for _, x := range logs {
		y := math.Exp(x)
		pairs.Add(stats.Bounded{Lo: 1, Mid: 1, Hi: 1}, stats.Bounded{Lo: y, Mid: y, Hi: y})
	}
	return pairs
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
	if err != nil || len(built.Failed) > 0 || len(built.Tests) != 1 || len(built.Tests[0].Layouts) != 0 {
		t.Fatalf("%+v: %v", built, err)
	}
	if err := Arrange(background, built.Tests); err != nil || len(built.Tests[0].Layouts) != 3 {
		t.Fatalf("%+v: %v", built, err)
	}
	unknown, err := Compile(background, "testdata/memo", t.TempDir(), []string{"."}, Building{Layouts: 3})
	if err != nil {
		t.Fatal(err)
	}
	unknown.Tests[0].Orders.Link = func(context.Context, int) (string, error) {
		return "", errors.New("flag provided but not defined: -randlayout")
	}
	pair := append(unknown.Tests, built.Tests...)
	if err := Arrange(background, pair); err == nil || len(pair[0].Layouts)+len(pair[1].Layouts) > 0 {
		t.Errorf("a linker without such a flag: %v, %+v", err, pair)
	}
	elsewhere, err := Compile(background, "testdata/memo", t.TempDir(), []string{"."}, Building{Layouts: 4, LDFlags: "example.com/other=-s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := Arrange(background, elsewhere.Tests); err == nil || !strings.Contains(err.Error(), "pattern of packages") || len(elsewhere.Tests[0].Layouts) > 0 {
		t.Errorf("flags for other packages: %v, %+v", err, elsewhere.Tests)
	}
	for i, binary := range built.Tests[0].Layouts {
		test := built.Tests[0]
		test.Binary = binary
		found, err := Processes{}.Discover(background, test, ".")
		if err != nil || len(found.Benchmarks) == 0 {
			t.Errorf("layout %d: %+v: %v", i, found, err)
		}
	}
	if flags := (Building{LDFlags: "-X a.b=c", Seed: 1}).link(1); len(flags) != 1 || !regexp.MustCompile(`^-ldflags=-X a\.b=c -randlayout=[0-9]+$`).MatchString(flags[0]) {
		t.Errorf("%q", flags)
	}
	if got := quotedFields(` -v '-ldflags=-X a.b=c d' "-tags=x y"  -race`); !slices.Equal(got, []string{"-v", "-ldflags=-X a.b=c d", "-tags=x y", "-race"}) {
		t.Errorf("%q", got)
	}
	t.Setenv("GOFLAGS", "'-ldflags=-X a.b=c d'")
	if flags, err := (Building{}).withGoFlags(background, "testdata/memo"); flags != "-X a.b=c d" || err != nil {
		t.Errorf("%q: %v", flags, err)
	}
	if flags := (Building{}).link(0); flags != nil {
		t.Errorf("the usual layout has flags: %q", flags)
	}
}

// A list of replaced files in GOFLAGS is the user's own, also if go env -w has set it: no other is given.
func TestUsersOverlayIsKept(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "replaced.json")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOENV", filepath.Join(dir, "env"))
	for flags, want := range map[string]int{"-v": 1, "-overlay=/users.json": 0} {
		if err := os.WriteFile(filepath.Join(dir, "env"), []byte("GOFLAGS="+flags+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := (overlay{"a": "b"}).flags(background, dir, path); err != nil || len(got) != want {
			t.Errorf("%s: %q, want %d: %v", flags, got, want, err)
		}
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

// placedComparisons returns a suite of equal benchmarks whose ratios scatter between layouts, by deviations, and between pairs.
func placedComparisons(rng *rand.Rand, layouts, pairs int, between []float64, within float64) (all []Comparison) {
	for _, deviation := range between {
		places := make([]float64, layouts)
		for i := range places {
			places[i] = deviation * rng.NormFloat64()
		}
		var logs []float64
		for i := range pairs {
			logs = append(logs, places[i%layouts]+within*rng.NormFloat64())
		}
		c := inTurn(logs, layouts)
		c.Outcome = stats.Slower // as far as Judge lets it stand
		all = append(all, c)
	}
	return all
}

// mayFail checks that of runs with equal code no more fail than false alarms may.
func mayFail(t *testing.T, failed, runs int, what string, of ...any) {
	t.Helper()
	most := atMost(runs, stats.FalseAlarms)
	t.Logf(what+": %d of %d fail", append(of, failed, runs)...)
	if failed > most {
		t.Errorf(what+": %d of %d fail, want at most %d", append(of, failed, runs, most)...)
	}
}

// A suite whose layouts differ fails by chance one time in 100, also if its benchmarks differ in what placement does to them:
// their scatter is an estimate. By the normal distribution a suite of one failed one time in 40 with four layouts.
func TestFewLayouts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	suites := 60 * cases(t)
	alike := func(n int, deviation float64) []float64 { return slices.Repeat([]float64{deviation}, n) }
	for name, between := range map[string][]float64{
		"one": {0.02}, "five alike": alike(5, 0.02), "forty alike": alike(40, 0.01), "forty insensitive": alike(40, 0),
		"two of ten": slices.Concat(alike(8, 0.001), alike(2, 0.05)), "five of forty": slices.Concat(alike(35, 0.002), alike(5, 0.05)),
		"all kinds": {0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1},
	} {
		for _, layouts := range []int{4, 8} {
			fails, calls := make([]bool, suites), make([]bool, suites)
			parallel(suites, func(i int) {
				rng := rand.New(rand.NewPCG(uint64(layouts), uint64(i)))
				for _, j := range Judge(placedComparisons(rng, layouts, 10*layouts, between, 0.01), quickGate(time.Second, 0)) {
					fails[i] = fails[i] || j.Side == stats.Beyond
					calls[i] = calls[i] || j.Outcome == stats.Slower
				}
			})
			mayFail(t, trues(fails), suites, "%s, %d layouts", name, layouts)
			mayFail(t, trues(calls), suites, "%s, %d layouts, in the list", name, layouts)
		}
	}
}

// A few benchmarks that are sensitive to their place raise no false alarm among many that are not.
func TestFewSensitiveBenchmarks(t *testing.T) {
	suites := 300 * cases(t)
	for _, layouts := range []int{4, 8, 32} {
		looks := float64(looksAtLayouts)
		if layouts == 32 { // the first eight don't tell enough
			looks /= grownShare
		}
		for _, shape := range []struct {
			benchmarks, sensitive int
			factor                float64
		}{{10, 1, 10}, {40, 1, 5}, {150, 1, 5}, {150, 2, 10}, {300, 1, 5}, {600, 6, 10}} {
			rng, failed := rand.New(rand.NewPCG(uint64(layouts), 1)), 0
			for range suites {
				all := make([]Comparison, shape.benchmarks)
				for i := range all {
					deviation := 0.002
					if i < shape.sensitive {
						deviation *= shape.factor
					}
					centres := make([]float64, layouts)
					for k := range centres {
						centres[k] = deviation * rng.NormFloat64()
					}
					all[i].placed.layouts, all[i].placed.looks = layouts, looks
					all[i].placed.centre, all[i].placed.ofCentres = stat.MeanStdDev(centres, nil)
				}
				typical, least := typicalPlacementOf(all), 1.
				for _, c := range all {
					least = math.Min(least, c.placed.beyond(typical, 1))
				}
				if least <= stats.FalseAlarms/float64(shape.benchmarks) {
					failed++
				}
			}
			mayFail(t, failed, suites, "%d layouts, %+v", layouts, shape)
		}
	}
}

// Layouts raise no false alarm either when pairs are looked at again and again, as they come in.
func TestLayoutsAtEachLook(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	runs, plan := 200*cases(t), quickGate(time.Second, 0)
	for _, layouts := range []int{4, 8} {
		for _, between := range []float64{0, 0.002, 0.005, 0.02} {
			fails := make([]bool, runs)
			parallel(runs, func(i int) {
				rng := rand.New(rand.NewPCG(uint64(layouts), uint64(i)))
				logs := placedComparisons(rng, layouts, 160, []float64{between}, 0.01)[0].pairs.Logs()
				for n := 2 * layouts; n <= len(logs); n++ {
					if plan.gate().LooksFor(1).Due(n) {
						fails[i] = fails[i] || inTurn(logs[:n], layouts).side(plan, 1) == stats.Beyond
					}
				}
			})
			mayFail(t, trues(fails), runs, "%d layouts that differ by %g", layouts, between)
		}
	}
}

// growing is a comparison of equal code, or of code that takes longer by the logarithm slower, whose ratios scatter between layouts
// and between pairs. It is looked at as pairs come in, and has more layouts when the pairs alone are beyond the limit.
type growing struct {
	between, within, slower float64
	pairs                   int
}

// run returns the comparison at the end, and whether it was beyond the limit at any look.
func (g growing) run(rng *rand.Rand, plan Plan) (c Comparison, beyond bool) {
	b := Benchmark{Layouts: make([]string, 8), first: 8, Orders: &Orders{First: 8}}
	effects := make([]float64, 1+b.Orders.most())
	for k := range effects {
		effects[k] = g.slower + g.between*rng.NormFloat64()
	}
	var logs []float64
	var made []Repetition
	for pairs := 0; pairs < g.pairs; {
		layout, _ := b.next(made)
		made, logs = append(made, Repetition{Layout: layout}), append(logs, effects[layout]+g.within*rng.NormFloat64())
		if layout == 0 {
			continue
		}
		if pairs++; !plan.gate().LooksFor(1).Due(pairs) && pairs < g.pairs {
			continue
		}
		c = Comparison{A: &Result{Benchmark: b}, B: &Result{}, pairs: ratios(logs), at: numbered(len(logs))}
		c.place(b, made)
		beyond = beyond || c.side(plan, 1) == stats.Beyond
		if !b.grown() && c.beyondInPairs(plan, 1) && pairs+b.added() <= g.pairs {
			b.Layouts = make([]string, b.Orders.most())
		}
	}
	return c, beyond
}

// They don't either if more are linked when the pairs alone are beyond the limit.
func TestMoreLayoutsAtEachLook(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	runs, plan := 100*cases(t), quickGate(time.Second, 0)
	for _, between := range []float64{0, 0.005, 0.02, 0.05} {
		fails, grew := make([]bool, runs), make([]bool, runs)
		parallel(runs, func(i int) {
			var c Comparison
			c, fails[i] = growing{between: between, within: 0.01, pairs: 200}.run(rand.New(rand.NewPCG(77, uint64(i))), plan)
			grew[i] = c.A.grown()
		})
		if between >= 0.02 && trues(grew) < runs/8 {
			t.Errorf("layouts that differ by %g: only %d of %d have more", between, trues(grew), runs)
		}
		mayFail(t, trues(fails), runs, "layouts that differ by %g, %d have more", between, trues(grew))
	}
}

// What --plan calls visible is seen if the first layouts don't tell it, and the added ones do.
func TestMoreLayoutsSeeWhatIsVisible(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	runs, plan := 100*cases(t), quickGate(time.Second, 0)
	for _, pairs := range []int{50, 100} {
		found, grew, few := make([]bool, runs), make([]bool, runs), make([]float64, runs)
		parallel(runs, func(i int) {
			rng := rand.New(rand.NewPCG(uint64(pairs), uint64(i)))
			g := growing{between: 0.01, within: 0.004, pairs: pairs}
			pilot, _ := growing{between: 0.01, within: 0.004, pairs: 32}.run(rng, plan)
			n := pilot
			n.pairs = ratios(repeated(pilot.pairs.Logs(), pairs))
			planned := visible([]Comparison{n}, plan, 0.05)[0].Visible.Value()
			n.A = &Result{Benchmark: Benchmark{Layouts: pilot.A.Layouts, first: 8}}
			few[i] = visible([]Comparison{n}, plan, 0.05)[0].Visible.Value() / planned
			g.slower = math.Log1p(planned)
			var c Comparison
			c, found[i] = g.run(rng, plan)
			grew[i] = c.A.grown()
		})
		t.Logf("%d pairs: %d of %d found, %d have more layouts; without them %.2g times as much would be visible", pairs, trues(found), runs, trues(grew), stats.Median(few))
		if n := trues(found); n < atLeast(runs) {
			t.Errorf("%d pairs: %d of %d found, want %d", pairs, n, runs, atLeast(runs))
		}
	}
}

// repeated returns n values, the given ones again and again.
func repeated(values []float64, n int) (all []float64) {
	for i := range n {
		all = append(all, values[i%len(values)])
	}
	return all
}

// numbered returns 0 to n-1.
func numbered(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// What --plan and --null promise is kept with layouts, too: a slowdown that is said to be visible is seen.
func TestLayoutsSeeWhatIsVisible(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	plan := quickGate(time.Second, 0)
	for _, layouts := range []int{4, 8} {
		for _, benchmarks := range []int{1, 5} {
			suites := 40 * cases(t)
			found := make([]bool, suites)
			parallel(suites, func(i int) {
				rng := rand.New(rand.NewPCG(uint64(layouts), uint64(i)))
				between := make([]float64, benchmarks)
				visible := visible(placedComparisons(rng, layouts, 80, between, 0.01), plan, 0.05)[0].Visible.Value()
				all := placedComparisons(rng, layouts, 80, between, 0.01)
				slower := all[0].pairs.Logs()
				for k := range slower {
					slower[k] += math.Log1p(visible)
				}
				all[0] = inTurn(slower, layouts)
				found[i] = Judge(all, plan)[0].Side == stats.Beyond
			})
			t.Logf("%d layouts, %d benchmarks: %d of %d found", layouts, benchmarks, trues(found), suites)
			if n := trues(found); n < atLeast(suites) {
				t.Errorf("%d layouts, %d benchmarks: %d of %d found, want %d", layouts, benchmarks, n, suites, atLeast(suites))
			}
		}
	}
}

// What the placement of a suite's benchmarks tells about one another: Smyth's estimates for benchmarks that are alike, and for
// those that differ by a factor. The first three trigammas are π²/2, π²/2-4 and π²/2-4-4/9-4/25 (Abramowitz and Stegun, 6.4.4 and
// 6.4.6), the last one is the asymptotic series 6.4.12.
func TestTypicalPlacement(t *testing.T) {
	for x, want := range map[float64]float64{
		0.5: math.Pi * math.Pi / 2, 1.5: math.Pi*math.Pi/2 - 4, 3.5: math.Pi*math.Pi/2 - 4 - 4./9 - 4./25,
		40: 1./40 + 1./2/1600 + 1./6/64000 - 1./30/math.Pow(40, 5) + 1./42/math.Pow(40, 7),
	} {
		if got := trigamma(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("trigamma of %v: %v, want %v", x, got, want)
		}
		if got := inverseTrigamma(want); math.Abs(got-x) > 1e-6*x {
			t.Errorf("the inverse of %v: %v, want %v", want, got, x)
		}
	}
	rng := rand.New(rand.NewPCG(8, 8))
	between := slices.Repeat([]float64{0.01}, 400)
	got := typicalPlacementOf(placedComparisons(rng, 4, 400, between, 0))
	if deviation := math.Sqrt(got.variance); math.Abs(deviation-0.01) > 0.001 || got.freedom < 10 {
		t.Errorf("benchmarks that are alike: %v, %v degrees of freedom", deviation, got.freedom)
	}
	for i := range between {
		between[i] *= math.Exp(rng.NormFloat64())
	}
	if got := typicalPlacementOf(placedComparisons(rng, 4, 400, between, 0)); got.freedom > 1.5 {
		t.Errorf("benchmarks that differ by a factor of e: %v degrees of freedom", got.freedom)
	}
	if got := typicalPlacementOf(placedComparisons(rng, 4, 40, between[:1], 0)); got != (typicalPlacement{}) {
		t.Errorf("one benchmark: %v", got)
	}
}
