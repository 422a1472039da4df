package activity

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// garbage holds objects for the collector to scan.
var garbage [][]byte

// collections returns the number of garbage collections in the trace's caveats.
func collections(trace *Trace) (n int64) {
	for _, caveat := range trace.Caveats {
		if strings.Contains(caveat, "garbage collection") {
			fmt.Sscan(caveat, &n)
		}
	}
	return n
}

// The caveats count exactly the garbage collections during a recording. These leave the trace
// complete, and are attributed to nothing outside this process.
func TestCollectionsDuringARecording(t *testing.T) {
	const enough = 20
	var begun, over atomic.Bool
	var inside atomic.Int64
	var allocator sync.WaitGroup
	allocator.Go(func() {
		for !over.Load() {
			whole := begun.Load()
			garbage = append(garbage[max(0, len(garbage)-8):], make([]byte, 1<<20))
			runtime.GC()
			if whole && !over.Load() {
				inside.Add(1)
			}
		}
	})
	before := collectionsSoFar()
	trace := recordWith(t, -1, func() bool {
		begun.Store(true)
		if inside.Load() < enough {
			return false
		}
		over.Store(true)
		return true
	})
	after := collectionsSoFar()
	allocator.Wait()
	a := Analyse(trace)
	tiles(t, trace)
	t.Logf("%d collections told of, %d inside, %d in all; causes %v", collections(trace), inside.Load(), after-before, a.Causes)
	if n := collections(trace); n < inside.Load() || n > after-before {
		t.Errorf("%d collections are told of, %d began and ended inside the recording, %d in all: %q", n, inside.Load(), after-before, trace.Caveats)
	}
	if stopped := a.Causes[Stopped]; stopped.Count > 0 {
		t.Errorf("%d gaps are called stopped by a signal: %+v", stopped.Count, stopped)
	}
}

// Without collections no caveat mentions any.
func TestNoCollections(t *testing.T) {
	spells := 0
	trace := recordWith(t, -1, func() bool { spells++; return spells > 20 })
	if n := collections(trace); n != 0 {
		t.Errorf("%d collections are told of: %q", n, trace.Caveats)
	}
	tiles(t, trace)
}
