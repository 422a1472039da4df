package stats_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/stats"

	"gonum.org/v1/gonum/stat/distuv"
)

// A costModel draws invocation costs of one family. Its parameters are random too, from the range in
// which the families differ.
type costModel struct {
	family string
	draw   func(random *rand.Rand) (sample func() float64, scale float64)
}

// The parameters are from the ranges in which a family can be told from the others with 2,000 samples: a
// normal distribution whose mean is 20 standard deviations looks like a gamma distribution of shape
// 400, and a log-normal one of sigma 0.1 is nearly normal. Steps are at least a tenth of the scale
// apart, which is five grains or more.
var costModels = []costModel{
	{stats.FamilyNormal, func(random *rand.Rand) (func() float64, float64) {
		sd := between(random, 2, 200)
		d := distuv.Normal{Mu: sd * between(random, 0, 8), Sigma: sd, Src: random}
		return d.Rand, sd
	}},
	{stats.FamilyLogNormal, func(random *rand.Rand) (func() float64, float64) {
		d := distuv.LogNormal{Mu: between(random, 3, 8), Sigma: between(random, 0.4, 1.2), Src: random}
		return d.Rand, math.Exp(d.Mu) * d.Sigma
	}},
	{stats.FamilyGamma, func(random *rand.Rand) (func() float64, float64) {
		d := distuv.Gamma{Alpha: between(random, 0.5, 4), Beta: 1 / between(random, 5, 500), Src: random}
		return d.Rand, math.Sqrt(d.Alpha) / d.Beta
	}},
	{stats.FamilySteps, func(random *rand.Rand) (func() float64, float64) {
		scale := between(random, 10, 1000)
		atoms := make([]float64, 1+random.IntN(4))
		for i := range atoms {
			atoms[i] = scale * (0.1 + 0.1*float64(i) + between(random, 0, 0.05)*float64(i))
		}
		// The first atom has more than a third of the samples, each other at least an eighth.
		return func() float64 { return atoms[max(0, random.IntN(2*len(atoms))-len(atoms))] }, scale
	}},
}

func between(random *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*random.Float64() }

// A reading turns a cost into what a clock of the given grain shows of it.
type reading struct {
	name string
	read func(random *rand.Rand, cost, grain float64) float64
}

var readings = []reading{
	{"rounded", func(_ *rand.Rand, cost, grain float64) float64 { return math.Round(cost/grain) * grain }},
	{"at random phase", func(random *rand.Rand, cost, grain float64) float64 {
		return math.Floor(cost/grain+random.Float64()) * grain
	}},
	{"continuous", func(_ *rand.Rand, cost, _ float64) float64 { return cost }},
}

func TestBestFamilyFindsTheFamilyOfSimulatedCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const sets = 100
	for _, model := range costModels {
		for _, how := range readings {
			for _, outliers := range []float64{0, 0.01} {
				t.Run(fmt.Sprintf("%s, %s, %v outliers", model.family, how.name, outliers), func(t *testing.T) {
					t.Parallel()
					found := map[string]int{}
					for set := range sets {
						samples, grain := simulateCosts(model, how, outliers, uint64(set))
						best, _, err := stats.BestFamily(samples, grain)
						if err != nil {
							t.Fatal(err)
						}
						found[best.Family]++
					}
					if found[model.family] < sets*95/100 {
						t.Errorf("of %d sets: %v", sets, found)
					}
				})
			}
		}
	}
}

// simulateCosts draws 2,000 to 4,000 costs. The grain is at most a fifth of the scale. Outliers are
// interrupts, up to hundreds of scales long.
func simulateCosts(model costModel, how reading, outliers float64, seed uint64) (samples []float64, grain float64) {
	random := rand.New(rand.NewPCG(seed, 20110314))
	sample, scale := model.draw(random)
	if how.name != "continuous" {
		grain = scale / between(random, 50, 500)
		if model.family != stats.FamilySteps && random.IntN(2) == 0 {
			grain = scale / between(random, 2, 20)
		}
	}
	samples = make([]float64, 2000+random.IntN(2000))
	for i := range samples {
		cost := sample()
		if random.Float64() < outliers {
			cost += scale * math.Exp(between(random, 0, 7))
		}
		samples[i] = how.read(random, cost, grain)
	}
	return samples, grain
}

func TestBestFamilyRecoversParameters(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, test := range []struct {
		sample func() float64
		want   map[string]float64
	}{
		{distuv.Normal{Mu: 50, Sigma: 10, Src: random}.Rand, map[string]float64{"mean": 50, "sd": 10}},
		{distuv.LogNormal{Mu: 4, Sigma: 0.6, Src: random}.Rand, map[string]float64{"mu": 4, "sigma": 0.6}},
		{distuv.Gamma{Alpha: 2.5, Beta: 0.05, Src: random}.Rand, map[string]float64{"shape": 2.5, "scale": 20}},
	} {
		samples := make([]float64, 20_000)
		for i := range samples {
			samples[i] = math.Round(test.sample())
		}
		best, _, err := stats.BestFamily(samples, 1)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range test.want {
			// The tolerance is five standard errors; the largest is that of the shape, 3.5 %.
			if got := best.Parameters[name]; math.Abs(got-want) > 0.035*want {
				t.Errorf("%s: %s is %v, want %v", best.Family, name, got, want)
			}
		}
	}
}

// A constant cost of 20.3 grains that is read at a random phase reads 20 or 21. The expected figures were
// computed by hand from the rules in BestFamily's comment.
func TestBestFamilyOfOneStepBetweenTwoReadings(t *testing.T) {
	samples := append(repeat(20, 700), repeat(21, 300)...)
	best, all, err := stats.BestFamily(samples, 1)
	if err != nil {
		t.Fatal(err)
	}
	strays := 0.01 / 2
	likelihood := 700*math.Log(0.99*0.7+strays) + 300*math.Log(0.99*0.3+strays)
	near(t, "log-likelihood", best.LogLikelihood, likelihood, 1e-9)
	near(t, "BIC", best.BIC, math.Log(1000)-2*likelihood, 1e-9)
	near(t, "atom1", best.Parameters["atom1"], 20.3, 1e-9)
	near(t, "weight1", best.Parameters["weight1"], 1, 1e-9)
	if best.Family != stats.FamilySteps || len(best.Parameters) != 2 {
		t.Errorf("best is %s %v", best.Family, best.Parameters)
	}
	if len(all) != 4 || all[0].Family != best.Family {
		t.Errorf("all is %v", all)
	}
	for i := 1; i < len(all); i++ {
		if all[i].BIC < all[i-1].BIC {
			t.Errorf("BIC falls from %v to %v", all[i-1], all[i])
		}
	}
}

func TestBestFamilySharesOverlappingSteps(t *testing.T) {
	// 600 samples at 10.5 and 400 at 11.25, read with grain 1, read 10, 11 and 12.
	samples := append(append(repeat(10, 300), repeat(11, 600)...), repeat(12, 100)...)
	samples = append(samples, repeat(50, 500)...)
	best, _, err := stats.BestFamily(samples, 1)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for _, atom := range []string{"1", "2", "3"} {
		mean += best.Parameters["atom"+atom] * best.Parameters["weight"+atom]
	}
	if best.Family != stats.FamilySteps || len(best.Parameters) != 6 {
		t.Fatalf("best is %v", best)
	}
	near(t, "mean of the atoms", mean, (1000*10.8+500*50)/1500, 1e-6)
}

func TestBestFamilyOfDegenerateSamples(t *testing.T) {
	for name, test := range map[string]struct {
		samples   []float64
		grain     float64
		family    string
		atoms     int
		discarded int
	}{
		"all equal":                {repeat(25, 100), 1, stats.FamilySteps, 1, 0},
		"all equal, continuous":    {repeat(25.1, 1001), 0, stats.FamilySteps, 1, 0},
		"all zero":                 {repeat(0, 200), 0, stats.FamilySteps, 1, 0},
		"all zero with a grain":    {repeat(0, 200), 1e7, stats.FamilySteps, 1, 0},
		"all negative":             {repeat(-3, 200), 1, stats.FamilySteps, 1, 0},
		"two values":               {append(repeat(25, 100), repeat(40, 100)...), 1, stats.FamilySteps, 2, 0},
		"two values, continuous":   {append(repeat(25, 100), repeat(40, 100)...), 0, stats.FamilySteps, 2, 0},
		"two signs":                {append(repeat(-5, 100), repeat(5, 100)...), 1, stats.FamilySteps, 2, 0},
		"a tick in a thousand":     {append(repeat(0, 999), 1e7), 1e7, stats.FamilySteps, 1, 0},
		"an interrupt both ways":   {append(repeat(25, 998), -1e9, 1e9), 1, stats.FamilySteps, 1, 2},
		"either side of a fence":   {append(repeat(25, 998), 28, 29), 1, stats.FamilySteps, 1, 1},
		"a step of 6 %, far away":  {append(repeat(25, 940), repeat(1e6, 60)...), 1, stats.FamilySteps, 2, 0},
		"interrupts of 4 %":        {append(repeat(25, 960), repeat(1e6, 40)...), 1, stats.FamilySteps, 1, 40},
		"huge but for the grain":   {append(repeat(1e18, 100), repeat(2e18, 100)...), 1, stats.FamilySteps, 2, 0},
		"grain wider than samples": {append(repeat(25, 100), repeat(26, 100)...), 1000, stats.FamilySteps, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			best, _, err := stats.BestFamily(test.samples, test.grain)
			if err != nil {
				t.Fatal(err)
			}
			if best.Family != test.family || len(best.Parameters) != 2*test.atoms || best.Discarded != test.discarded {
				t.Errorf("%+v", best)
			}
			if best.N+best.Discarded != len(test.samples) {
				t.Errorf("%d used and %d left out of %d", best.N, best.Discarded, len(test.samples))
			}
			for name, p := range best.Parameters {
				if math.IsNaN(p) || math.IsInf(p, 0) {
					t.Errorf("%s is %v", name, p)
				}
			}
		})
	}
}

// There is one parameter for each number that was fitted. The weights add up to 1, so the last weight
// does not count.
func TestBestFamilyCountsParameters(t *testing.T) {
	_, all, err := stats.BestFamily(append(repeat(25, 400), repeat(40, 600)...), 1)
	if err != nil {
		t.Fatal(err)
	}
	free := map[string]float64{stats.FamilyNormal: 2, stats.FamilyLogNormal: 2, stats.FamilyGamma: 2, stats.FamilySteps: 3}
	for _, fit := range all {
		near(t, "BIC of "+fit.Family, fit.BIC, free[fit.Family]*math.Log(1000)-2*fit.LogLikelihood, 1e-9)
	}
}

// With strays all over the range there are more values than bins. If a step shared its bin with the
// strays next to it, a smooth family would be as likely.
func TestBestFamilyFindsStepsAmongStrays(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	samples := append(repeat(1000, 2400), repeat(1040, 1440)...)
	for range 160 {
		samples = append(samples, math.Round(between(random, 920, 1120)))
	}
	best, _, err := stats.BestFamily(samples, 1)
	if err != nil || best.Family != stats.FamilySteps || len(best.Parameters) != 4 {
		t.Fatalf("%+v, %v", best, err)
	}
	near(t, "atom1", best.Parameters["atom1"], 1000, 0.1)
	near(t, "atom2", best.Parameters["atom2"], 1040, 0.1)
}

// A few negative readings, of a clock that steps back, do not hide the family.
func TestBestFamilyBearsNegativeSamples(t *testing.T) {
	d := distuv.LogNormal{Mu: 3, Sigma: 0.7, Src: rand.New(rand.NewPCG(3, 3))}
	samples := repeat(-4, 5)
	for range 3000 {
		samples = append(samples, d.Rand())
	}
	best, _, err := stats.BestFamily(samples, 0)
	if err != nil || best.Family != stats.FamilyLogNormal {
		t.Errorf("%+v, %v", best, err)
	}
}

func TestBestFamilyRefuses(t *testing.T) {
	var few *stats.TooFewError
	for _, n := range []int{0, 1, 99} {
		if _, _, err := stats.BestFamily(repeat(1, n), 1); !errors.As(err, &few) || few.Need != 100 || few.Have != n {
			t.Errorf("%d samples: %v", n, err)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, _, err := stats.BestFamily(append(repeat(1, 200), bad), 1); err == nil {
			t.Errorf("a sample of %v was accepted", bad)
		}
		if _, _, err := stats.BestFamily(repeat(1, 200), bad); err == nil {
			t.Errorf("a grain of %v was accepted", bad)
		}
	}
	if _, _, err := stats.BestFamily(repeat(1, 200), -1); err == nil {
		t.Error("a negative grain was accepted")
	}
}

func BenchmarkBestFamily(b *testing.B) {
	d := distuv.Gamma{Alpha: 2, Beta: 0.01, Src: rand.New(rand.NewPCG(1, 1))}
	samples := make([]float64, 5000)
	for i := range samples {
		samples[i] = d.Rand()
	}
	for b.Loop() {
		if _, _, err := stats.BestFamily(samples, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func repeat(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", name, got, want, tolerance)
	}
}
