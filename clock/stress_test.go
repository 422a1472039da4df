package clock

import (
	"io"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"testing"
)

// deeper reads the clock after depth recursive calls, which make the stack grow, so that clocks
// are read with much and with little of the stack left.
func deeper(c *Clock, depth int) int64 {
	if depth == 0 {
		return c.Read()
	}
	var frame [8]int64
	frame[depth%8] = deeper(c, depth-1)
	return frame[depth%8]
}

// Many goroutines read every clock from stacks of many sizes while the garbage collector moves
// the stacks and the profiler interrupts the readings. The test shows that the process survives
// and that no stack is corrupted.
func TestReadingsStandProfilerAndCollector(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Log("the test itself is profiled: ", err)
	} else {
		defer pprof.StopCPUProfile()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	clocks, _ := List()
	var readers sync.WaitGroup
	for _, c := range clocks {
		for depth := range 8 {
			readers.Go(func() {
				ticks := make([]int64, 8)
				for round := range 10 {
					canary := [32]int{31: round}
					deeper(c, 20*depth+round)
					c.Chain(depth, ticks)
					if ticks = append([]int64(nil), ticks...); canary[31] != round {
						t.Errorf("%s: a reading spoilt its stack", c.Name)
					}
					if depth == 0 && round == 5 {
						runtime.GC()
					}
				}
			})
		}
	}
	readers.Wait()
	for _, c := range clocks {
		if err := c.Close(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
