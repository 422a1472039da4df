package kbest

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"testing"
	"testing/fstest"

	"chronoscope/machine"
	"chronoscope/stats"
)

// Whatever /sys says, the sweep has a size that can be had.
func TestSweptBytes(t *testing.T) {
	cache := func(level, size string) fstest.MapFS {
		dir := "sys/devices/system/cpu/cpu0/cache/index0/"
		return fstest.MapFS{
			dir + "level": {Data: []byte(level + "\n")}, dir + "type": {Data: []byte("Unified\n")}, dir + "size": {Data: []byte(size + "\n")},
		}
	}
	for name, c := range map[string]struct {
		root   fs.FS
		wanted int
	}{
		"no /sys":   {fstest.MapFS{}, 2 * 64 << 20},
		"malformed": {cache("3", "many"), 2 * 64 << 20},
		"4 MB":      {cache("2", "4096K"), 8 << 20},
	} {
		e, err := NewEvictor(c.root)
		if err != nil {
			t.Fatal(err)
		}
		if e.Bytes() != c.wanted {
			t.Errorf("%s: %d bytes, want %d", name, e.Bytes(), c.wanted)
		}
		for range 2 {
			if err := e.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		e.Evict() // of nothing
	}
	if got := sweptBytes([]machine.Cache{{Level: 3, Bytes: math.MaxInt}}); got != mostSwept {
		t.Errorf("a cache as large as can be is swept with %d bytes", got)
	}
}

// Flushing leaves every value as it is, within the range and at its edges.
func TestFlush(t *testing.T) {
	data := make([]byte, 1000)
	for from := range 70 {
		for i := range data {
			data[i] = byte(i * 7)
		}
		err := Flush(data[from : len(data)-from])
		if canFlush == (err != nil) {
			t.Fatalf("can flush: %v, %v", canFlush, err)
		}
		for i := range data {
			if data[i] != byte(i*7) {
				t.Fatalf("byte %d became %d", i, data[i])
			}
		}
	}
	if err := Flush([]int64(nil)); canFlush && err != nil {
		t.Error(err)
	}
	if err := Flush([]struct{}{{}}); canFlush && err != nil {
		t.Error(err)
	}
	var unsupported error = errors.ErrUnsupported
	if err := Flush(data); err != nil && !errors.Is(err, unsupported) {
		t.Error(err)
	}
}

//go:noinline
func double(x *int) { *x *= 2 }

//go:noinline
func increment(x *int) { *x++ }

// Code that was flushed still does what it did.
func TestFlushCode(t *testing.T) {
	x := 20
	if err := FlushCode(double, increment); canFlush && err != nil {
		t.Fatal(err)
	}
	if double(&x); x != 40 {
		t.Errorf("20 doubled is %v", x)
	}
	if canFlush {
		for _, none := range []any{nil, 3, (func())(nil)} {
			if FlushCode(none) == nil {
				t.Errorf("the code of %v was flushed", none)
			}
		}
	}
}

// The code of a function, and of all, is where the runtime knows it to be.
func TestWhereCodeLies(t *testing.T) {
	all, end := allCode()
	for _, f := range []any{double, increment, codeOf, TestWhereCodeLies} {
		entry := reflect.ValueOf(f).Pointer()
		from, to := codeOf(entry)
		if from != entry || to <= from || to > from+1<<16 || from < all || to > end {
			t.Errorf("code from %x to %x, of all from %x to %x", from, to, all, end)
		}
		if g := runtime.FuncForPC(to); g != nil && g.Entry() == entry {
			t.Errorf("the code of %s goes on at %x", g.Name(), to)
		}
	}
}

// A ring goes through each of its lines once.
func TestRing(t *testing.T) {
	for _, lines := range []int{1, 2, 96, 1000} {
		r := newRing(lines, probeStride, rand.New(rand.NewPCG(1, 1)))
		seen, at := map[int32]bool{}, int32(0)
		for range lines {
			seen[at] = true
			at = r.next[at]
		}
		if len(seen) != lines || at != 0 || r.walk() != 0 {
			t.Errorf("%d lines: %d seen, and ends at %d", lines, len(seen), at)
		}
	}
}

// What the check says of each case; the figures of the first are those of a machine.
func TestEvictionJudged(t *testing.T) {
	times := func(ns float64) []float64 { return []float64{ns, ns, ns, ns, ns, ns, ns} }
	for name, c := range map[string]struct {
		x       walks
		works   bool
		verdict stats.Verdict
	}{
		"works":            {walks{warm: times(1.8), swept: times(135), flushed: times(136), memory: times(93)}, true, stats.Trusted},
		"left in a cache":  {walks{warm: times(1.8), swept: times(30), flushed: times(136), memory: times(93)}, false, stats.Unusable},
		"no flush":         {walks{warm: times(1.8), swept: times(80), memory: times(93)}, true, stats.Suspect},
		"no flush, cached": {walks{warm: times(1.8), swept: times(20), memory: times(93)}, false, stats.Unusable},
		"no caches at all": {walks{warm: times(100), swept: times(101), flushed: times(99), memory: times(98)}, false, stats.Unusable},
		"coarse clock":     {walks{warm: times(0), swept: times(104), flushed: times(0), memory: times(97)}, false, stats.Unusable},
		"ended too soon":   {walks{warm: times(1.8)[:2], swept: times(135)[:2], flushed: times(136)[:2], memory: times(93)[:2]}, true, stats.Unusable},
		"ended before one": {walks{}, false, stats.Unusable},
	} {
		got := EvictionCheck{Judgement: stats.NewJudgement()}
		got.conclude(c.x)
		if got.Works != c.works || got.Verdict != c.verdict {
			t.Errorf("%s: works %v, %+v", name, got.Works, got.Judgement)
		}
	}
}

// On real hardware the check comes to an end, whatever it says, and can be ended.
func TestEvictionCheck(t *testing.T) {
	e, err := NewEvictor(os.DirFS("/"))
	if err != nil {
		t.Skip(err) // no memory for it
	}
	defer e.Close()
	c, err := e.Check(background)
	if err == nil && !(c.Warm.Value > 0 && c.Swept.Value > 0 && c.Memory.Value > 0) && c.Verdict != stats.Unusable {
		t.Errorf("%+v", c)
	}
	t.Logf("warm %.3g, swept %.3g, flushed %.3g, memory %.3g ns a load, %s %v", c.Warm.Value, c.Swept.Value, c.Flushed.Value, c.Memory.Value, c.Verdict, c.Reasons)
	ended, cancel := context.WithCancel(background)
	cancel()
	if c, err := e.Check(ended); !errors.Is(err, context.Canceled) || c.Verdict != stats.Unusable {
		t.Errorf("ended: %+v, %v", c, err)
	}
}

// Several preparations are made in the order given.
func TestPreparations(t *testing.T) {
	order := ""
	var o options
	for _, option := range []Option{Before(func() { order += "a" }), Before(func() { order += "b" })} {
		option(&o)
	}
	if o.subject.Before(); order != "ab" {
		t.Error(order)
	}
}
