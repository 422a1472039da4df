package gobench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"chronoscope/stats"
)

// suite runs benchmarks whose processes differ at random, some by more than others, in as long as
// they have to take.
type suite struct {
	rng       *rand.Rand
	deviation map[string]float64
	slower    map[string]float64 // of the new revision
	pairs     map[string]int
}

func (s *suite) Run(_ context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	ns := 1e5 * math.Exp(s.deviation[b.Name]*s.rng.NormFloat64())
	if slower, ok := s.slower[b.Name]; ok && b.Revision == "" {
		ns *= slower
	}
	s.pairs[b.Name]++
	timedNs := ns * float64(n)
	return Observation{N: n, Procs: 1, TimedNs: timedNs, WallNs: timedNs + 1e6, CPUNs: timedNs + 1e6}, nil
}

func (s *suite) judge(benchmarks int, plan Plan) []Judged {
	setting := Setting{CPUs: 2}
	var groups [][]Benchmark
	for i := range benchmarks {
		name := fmt.Sprintf("Benchmark%d", i)
		groups = append(groups, []Benchmark{{Name: name, Revision: "then"}, {Name: name}})
	}
	measured, err := Measure(background, s, groups, plan, setting, nil)
	if err != nil {
		panic(err)
	}
	var all []Comparison
	for _, group := range measured {
		all = append(all, Compare(Conclude(group[0], plan, setting), Conclude(group[1], plan, setting), 2*plan.Precision, plan.Seed))
	}
	return Judge(all, plan)
}

// What is undecided has the time that the others leave, and is told with it: a slowdown of 10 %
// whose pairs scatter by a quarter takes more pairs than its own time allows. What is settled ends.
func TestTimeGoesToTheUndecided(t *testing.T) {
	plan := QuickPlan
	plan.MaxTime, plan.Gate = 4*time.Second, &Gate{Limit: 0.05}
	s := &suite{
		rng: rand.New(rand.NewPCG(1, 7)), pairs: map[string]int{},
		deviation: map[string]float64{"Benchmark0": 0.12, "Benchmark1": 0.001, "Benchmark2": 0.001, "Benchmark3": 0.001, "Benchmark4": 0.001},
		slower:    map[string]float64{"Benchmark0": 1.2, "Benchmark1": 1.2},
	}
	for i, j := range s.judge(5, plan) {
		want := stats.Within
		if i < 2 {
			want = stats.Beyond
		}
		if j.Side != want {
			t.Errorf("%s: %s, want %s: ratio %v, joint %v, P %v", j.B.Name, j.Side, want, j.Ratio, j.Joint, j.Beyond)
		}
		t.Logf("%s: %s after %d pairs", j.B.Name, j.Side, j.pairs.Len())
		if ownPairs := int(plan.MaxTime / (80 * time.Millisecond)); i == 0 && j.pairs.Len() <= ownPairs || i > 0 && j.pairs.Len() > 20 {
			t.Errorf("%s: %s after %d pairs; its own time is %d", j.B.Name, j.Side, j.pairs.Len(), ownPairs)
		}
	}
}

// Of suites of equal code no more fail than is allowed, with nothing at all allowed to be
// slower, and of as many with one slowdown that is visible nearly all do.
func TestGateOfSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const benchmarks = 6
	suites := 30 * cases(t)
	for _, slower := range []float64{1, 1.05} {
		failed, blamed := make([]bool, suites), make([]bool, suites)
		parallel(suites, func(i int) {
			plan := QuickPlan
			plan.Seed, plan.MaxTime, plan.Precision, plan.Gate = uint64(i), 7*time.Second, 1e-4, &Gate{}
			s := &suite{rng: rand.New(rand.NewPCG(uint64(i), 8)), pairs: map[string]int{}, deviation: map[string]float64{}, slower: map[string]float64{"Benchmark3": slower}}
			for k := range benchmarks {
				s.deviation[fmt.Sprintf("Benchmark%d", k)] = 0.02
			}
			for k, j := range s.judge(benchmarks, plan) {
				failed[i] = failed[i] || j.Side == stats.Beyond
				blamed[i] = blamed[i] || j.Side == stats.Beyond && (k != 3 || slower == 1)
			}
		})
		t.Logf("by %g: %d of %d fail, %d for what is equal", slower, trues(failed), suites, trues(blamed))
		if most := atMost(suites, stats.FalseAlarms); trues(blamed) > most {
			t.Errorf("by %g: %d of %d suites fail for what is equal, want at most %d", slower, trues(blamed), suites, most)
		}
		if least := atLeast(suites); slower > 1 && trues(failed) < least {
			t.Errorf("by %g: %d of %d suites fail, want %d", slower, trues(failed), suites, least)
		}
	}
}
