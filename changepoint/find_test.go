package changepoint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// each runs count series of a kind on all CPUs, and adds up.
func each(count int, kind string, draw func(r *rand.Rand) simulated) tally {
	var total tally
	var lock sync.Mutex
	var wait sync.WaitGroup
	const workers = 2
	for w := range workers {
		wait.Go(func() {
			var t tally
			for i := w; i < count; i += workers {
				s := draw(rand.New(rand.NewPCG(uint64(i), 7)))
				t.countFound(s, Find(s.points, FalseChanges))
			}
			lock.Lock()
			defer lock.Unlock()
			total.series += t.series
			total.steps += t.steps
			total.found += t.found
			total.exact += t.exact
			total.wrong += t.wrong
			total.seriesWrong += t.seriesWrong
			total.sizes += t.sizes
			total.covered += t.covered
			total.placesCovered += t.placesCovered
			total.width += t.width
		})
	}
	wait.Wait()
	return total
}

func TestTable(t *testing.T) {
	count, _ := strconv.Atoi(os.Getenv("CHANGEPOINT_SERIES"))
	if count == 0 {
		t.Skip("set CHANGEPOINT_SERIES")
	}
	const n = 200
	show := func(name string, got tally) {
		fmt.Printf("%-28s series %d wrong %d in %d; steps %d found %.3f exact %.3f; sizes covered %.3f places %.3f half width %.3f\n", name, got.series, got.wrong, got.seriesWrong, got.steps,
			float64(got.found)/float64(max(1, got.steps)), float64(got.exact)/float64(max(1, got.steps)),
			float64(got.covered)/float64(max(1, got.sizes)), float64(got.placesCovered)/float64(max(1, got.sizes)), got.width/float64(max(1, got.sizes)))
	}
	only := os.Getenv("CHANGEPOINT_KIND")
	for _, kind := range noiseKinds {
		if only != "" && only != kind {
			continue
		}
		show("flat "+kind, each(count, kind, func(r *rand.Rand) simulated { return simulate(r, n, kind, nil) }))
	}
	for _, kind := range noiseKinds {
		if only != "" && only != kind {
			continue
		}
		for _, size := range []float64{1, 2, 3, 5} {
			if size == 1 && kind != "white" {
				continue
			}
			show(fmt.Sprintf("step %g %s", size, kind), each(count/4, kind, func(r *rand.Rand) simulated {
				return simulate(r, n, kind, map[int]float64{15 + r.IntN(n-30): size * float64(1-2*r.IntN(2))})
			}))
		}
	}
	if only != "" {
		return
	}
	show("mended 2 white", each(count/4, "white", func(r *rand.Rand) simulated {
		at := 15 + r.IntN(n-60)
		return simulate(r, n, "white", map[int]float64{at: 2, at + 15 + r.IntN(15): -2})
	}))
}
