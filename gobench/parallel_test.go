package gobench

import (
	"context"
	"testing"
)

// parallelModule reports how many iterations RunParallel gives a goroutine at a time.
const parallelModule = `package m

import (
	"reflect"
	"testing"
)

func BenchmarkX(b *testing.B) {
	grain := uint64(0)
	b.SetParallelism(1)
	b.RunParallel(func(pb *testing.PB) {
		size := reflect.ValueOf(pb).Elem().FieldByName("grain").Uint()
		for first := true; pb.Next(); first = false {
			if first {
				grain = size
			}
		}
	})
	b.ReportMetric(float64(grain), "grain")
}
`

// RunParallel took 10 or fewer iterations at a time where go test takes 10,000, since it knew of no earlier run but that of
// a single iteration: a benchmark of 5 ns took 10 to 25. By testing.B.RunParallel it is what takes a goroutine 0.1 ms, up
// to 10,000.
func TestParallelIterationsAtATime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	p, b := onlyBenchmark(t, parallelModule)
	for _, c := range []struct {
		procs              int
		iterationNs, grain float64
	}{{1, 5, 10_000}, {1, 100, 1000}, {1, 0.5, 10_000}, {1, 1e6, 1}, {1, 3.2e4, 3}, {4, 100, 250}} {
		b.SetProcs, b.IterationNs = c.procs, c.iterationNs
		b.Name = b.named("BenchmarkX").Name
		o, err := p.Run(background, b, 100_000, false)
		if err != nil {
			t.Fatal(err)
		}
		reported := 0.
		for _, m := range o.Metrics {
			if m.Unit == "grain" {
				reported = m.Value
			}
		}
		if reported != c.grain {
			t.Errorf("iterations of %g ns are given out %g at a time, want %g", c.iterationNs, reported, c.grain)
		}
	}
}

// contended is a benchmark whose goroutines wait for one another unless they know how long an iteration takes. It notes
// what the runs knew.
type contended struct {
	*simulated
	known map[string][]float64
}

func (c *contended) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	c.known[b.Name] = append(c.known[b.Name], b.IterationNs)
	c.truthNs = 25
	if b.IterationNs > 0 {
		c.truthNs = 5
	}
	if b.Name == "BenchmarkB" {
		c.truthNs *= 1.1
	}
	return c.simulated.Run(ctx, b, n, traced)
}

// The first run knows nothing, the later ones what those before showed. In the repetitions both benchmarks of a pair know
// the same.
func TestIterationTimeIsKnown(t *testing.T) {
	machine, _ := newShared(3, 1, 5)
	c := &contended{simulated: machine, known: map[string][]float64{}}
	all, err := Measure(background, c, [][]Benchmark{{{Name: "BenchmarkA"}, {Name: "BenchmarkB"}}}, QuickPlan, quietSetting(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := c.known["BenchmarkA"], c.known["BenchmarkB"]
	if a[0] != 0 || b[0] != 0 || a[1] < 20 || a[len(a)-1] > 10 || a[len(a)-1] != b[len(b)-1] {
		t.Errorf("%v\n%v", a, b)
	}
	for i, own := range []float64{5, 5.5} {
		if r := all[0][i]; r.many < int(0.3*float64(QuickPlan.RunTime)/own) {
			t.Errorf("%d iterations of %g ns", r.many, own)
		}
	}
}
