package activity

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// A walk visits each line once and returns to its start; the sequential walk goes in the order of
// addresses.
func TestWalksAreOneRing(t *testing.T) {
	for _, pattern := range []Pattern{Sequential, Random} {
		for lines := 1; lines <= 300; lines++ {
			s := newWorkingSet(lines*lineBytes, pattern, rand.New(rand.NewPCG(uint64(lines), 1)))
			seen := make([]bool, lines)
			at := int32(0)
			for i := range lines {
				if seen[at] || pattern == Sequential && int(at) != i {
					t.Fatalf("%s walk over %d lines: step %d is at %d", pattern, lines, i, at)
				}
				seen[at] = true
				at = s.lines[at].next
			}
			if at != 0 || s.walk() != 0 || s.bytes() != lines*lineBytes {
				t.Fatalf("%s walk over %d lines ends at %d, of %d bytes", pattern, lines, at, s.bytes())
			}
		}
	}
	if s := newWorkingSet(0, Random, nil); len(s.lines) != 1 || s.walk() != 0 {
		t.Errorf("a set of no bytes has %d lines", len(s.lines))
	}
}

// There are six rings of four lines, and each is as likely as any other.
func TestRandomWalksAreAllAsLikely(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	counts := map[[4]int32]int{}
	const draws = 6000
	for range draws {
		var ring [4]int32
		for i, l := range newWorkingSet(4*lineBytes, Random, rng).lines {
			ring[i] = l.next
		}
		counts[ring]++
	}
	chiSquared := 0.0
	for _, n := range counts {
		chiSquared += float64((n-draws/6)*(n-draws/6)) / (draws / 6)
	}
	if len(counts) != 6 || chiSquared > 25.7 { // 99.99 % at five degrees of freedom
		t.Errorf("%v, chi squared %v", counts, chiSquared)
	}
}

// On a machine whose speed changes during the measurement, and which disturbs one walk in ten, the
// interval of what a cold cache costs covers the truth 95 times in 100.
func TestColdCacheEstimates(t *testing.T) {
	const cases = 2000
	covered := 0
	for seed := range uint64(cases) {
		rng := rand.New(rand.NewPCG(seed, 5))
		tickNs := 0.3 + rng.Float64()
		warm, idle, extra := 400+1e5*rng.Float64(), 100*rng.Float64(), 300+1e5*rng.Float64()
		speed := 1.0
		ticks := func(ns float64) int64 {
			ns *= speed * (1 + 0.02*rng.NormFloat64())
			if rng.IntN(10) == 0 {
				ns += 1e4 * rng.ExpFloat64()
			}
			return int64(ns / tickNs)
		}
		c := cell{set: newWorkingSet(1<<14, Random, rng)}
		for range 8 + rng.IntN(100) {
			speed = 1 + 0.2*(rng.Float64()-0.5)
			c.repetitions = append(c.repetitions, repetition{ticks(warm), ticks(warm + idle), ticks(warm + extra)})
		}
		got := c.result(tickNs)
		if got.Extra.Covers(extra) {
			covered++
		}
		if got.Bytes != 1<<14 || got.Pattern != Random || got.Extra.N != len(c.repetitions) || got.Extra.Unit != "ns" ||
			got.Warm.Value < 0.8*warm || got.Warm.Value > 1.2*warm+2e3 || got.AfterBusySwitch.Value < 0.8*(warm+extra) {
			t.Errorf("seed %d: %+v of %v, %v, %v", seed, got, warm, idle, extra)
		}
	}
	if covered < 1880 {
		t.Errorf("%d of %d intervals cover the truth", covered, cases)
	}
	t.Logf("%d of %d covered", covered, cases)
}

// With too few repetitions there is a value without bounds, and a reason.
func TestFewRepetitions(t *testing.T) {
	few, none := &cell{set: newWorkingSet(64, Sequential, nil)}, &cell{set: newWorkingSet(128, Sequential, nil)}
	few.repetitions = []repetition{{10, 11, 30}, {10, 11, 32}}
	e := experiment{tickNs: 2, cells: []*cell{few, none}}
	cold := e.results()
	if len(cold) != 1 || cold[0].Extra.Value != 42 || cold[0].Extra.Covers(42) || len(e.caveats) != 1 || !strings.Contains(e.caveats[0], "2 of 2 walks were repeated less than 6 times") {
		t.Errorf("%+v, %q", cold, e.caveats)
	}
}

// All cells get the repetitions that an interval needs before any gets more; after that the cell
// that has had the least time goes first.
func TestWhoseTurnItIs(t *testing.T) {
	had := func(n int, spent time.Duration) *cell {
		return &cell{repetitions: make([]repetition, n), spent: spent}
	}
	for _, c := range []struct{ first, second *cell }{
		{had(1, time.Second), had(2, 0)},
		{had(leastRepetitions-1, time.Second), had(leastRepetitions, 0)},
		{had(2, 1), had(2, 2)},
		{had(50, 1), had(leastRepetitions, 2)},
	} {
		if fewer(c.first, c.second) >= 0 || fewer(c.second, c.first) <= 0 {
			t.Errorf("%d in %v does not go before %d in %v", len(c.first.repetitions), c.first.spent, len(c.second.repetitions), c.second.spent)
		}
	}
}

// A megabyte took a millisecond. A larger set may take three times as long a byte, so that 16
// megabytes need 3 x 6 x 16 ms.
func TestLargestWorkingSet(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		wished   int
		duration time.Duration
		want     int
		caveats  int
	}{
		{16 * mega, 600 * time.Millisecond, 16 * mega, 0},
		{16 * mega, 500 * time.Millisecond, 8 * mega, 1},
		{16 * mega, 80 * time.Millisecond, 2 * mega, 1},
		{16 * mega, 50 * time.Millisecond, 0, 1},
		{mega, time.Minute, 0, 0},
		{1000, time.Minute, 0, 0},
	} {
		e := experiment{cells: []*cell{{set: newWorkingSet(mega, Sequential, nil), spent: time.Millisecond}}}
		if got := e.largest(c.wished, c.duration); got != c.want || len(e.caveats) != c.caveats {
			t.Errorf("%d in %v: %d, %q; want %d", c.wished, c.duration, got, e.caveats, c.want)
		}
	}
}

// Sizes come from the system, within bounds, or are assumed with a caveat.
func TestCachesOf(t *testing.T) {
	tree := func(sizes ...string) fstest.MapFS {
		fs := fstest.MapFS{}
		for i, size := range sizes {
			dir := "sys/devices/system/cpu/cpu2/cache/index" + string(rune('0'+i))
			fs[dir+"/level"] = &fstest.MapFile{Data: []byte{'1' + byte(i)}}
			fs[dir+"/type"] = &fstest.MapFile{Data: []byte("Unified")}
			fs[dir+"/size"] = &fstest.MapFile{Data: []byte(size)}
		}
		return fs
	}
	for _, c := range []struct {
		tree   fstest.MapFS
		want   cacheSizes
		caveat bool
	}{
		{tree("32K", "512K", "8192K"), cacheSizes{512 << 10, 8 << 20}, false},
		{tree("16K"), cacheSizes{16 << 10, 16 << 10}, false},
		{tree("32K", "1073741824K"), cacheSizes{MostSweepBytes / 2, MostSweepBytes}, false},
		{tree(), supposedCaches, true},
	} {
		if got, caveat := cachesOf(c.tree, 2); got != c.want || (caveat != "") != c.caveat {
			t.Errorf("%+v, %q; want %+v", got, caveat, c.want)
		}
	}
}
