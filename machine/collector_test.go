package machine

import (
	"runtime/debug"
	"testing"
)

// Measurements that overlapped once left collections off for good: the one that ended last
// restored the setting that the other had made.
func TestCollectorComesBack(t *testing.T) {
	percent := debug.SetGCPercent(66)
	defer debug.SetGCPercent(percent)
	limit := debug.SetMemoryLimit(-1)
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		releases := []func(){HoldCollector(0), HoldCollector(1 << 30)}
		if got := debug.SetMemoryLimit(-1); got != min(limit, 1<<30) {
			t.Errorf("the limit is %d while two hold the collector", got)
		}
		releases[order[0]]()
		if got := debug.SetGCPercent(-1); got != -1 {
			t.Errorf("at %d %% while one is measuring", got)
		}
		releases[order[1]]()
		if got := debug.SetGCPercent(66); got != 66 {
			t.Errorf("at %d %% afterwards, want 66", got)
		}
		if got := debug.SetMemoryLimit(-1); got != limit {
			t.Errorf("the memory limit is left at %d, want %d", got, limit)
		}
	}
}
