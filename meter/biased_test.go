package meter

import (
	"testing"
	"time"
)

// A word that a goroutine advances stands still while the measured code has the
// processor, and catches up between calls: the mean comes out as nothing, however
// long the calls are. That is why there is no such source, and why [Own] wants the
// reason why a clock is unbiased.
func TestClockOfAGoroutineIsBiased(t *testing.T) {
	w := newWorld(1, 1e6)
	var word int64
	advance := func() { word = int64(w.nowNs / w.tickNs) } // when the goroutine gets the processor
	by := map[string]func() int64{
		"kernel":    func() int64 { return int64(w.nowNs / w.tickNs) },
		"goroutine": func() int64 { return word },
	}
	meters := map[string]*Meter{}
	for name, read := range by {
		source, err := Own{Name: name, Read: read, Tick: time.Millisecond, Unbiased: "to be seen"}.Source()
		if err != nil {
			t.Fatal(err)
		}
		source.costNs, source.fine = w.source().costNs, w.source().fine
		meters[name] = New(name, source)
	}
	const lengthNs = 12_000
	for range 100_000 {
		starts := map[string]Start{}
		for name, m := range meters {
			starts[name] = m.Start()
		}
		w.nowNs += lengthNs
		for name, m := range meters {
			m.Stop(starts[name])
		}
		w.nowNs += lengthNs * w.rng.ExpFloat64()
		advance()
	}
	if r := meters["kernel"].Snapshot().Report(); !r.Mean.Covers(lengthNs) {
		t.Errorf("a clock that advances by itself: %+v", r.Mean)
	}
	if r := meters["goroutine"].Snapshot().Report(); r.Mean.Covers(lengthNs) || r.Edges != 0 {
		t.Errorf("a clock that a goroutine advances: %d edges, %+v", r.Edges, r.Mean)
	}
}

func TestOwnClockWantsItsReason(t *testing.T) {
	good := Own{Name: "mine", Read: func() int64 { return 0 }, Tick: time.Millisecond, Unbiased: "an interrupt advances it"}
	if _, err := good.Source(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Own){
		"no reason": func(o *Own) { o.Unbiased = "" }, "no tick": func(o *Own) { o.Tick = 0 },
		"no reading": func(o *Own) { o.Read = nil }, "65 bits": func(o *Own) { o.Bits = 65 }, "1 bit": func(o *Own) { o.Bits = 1 },
	} {
		bad := good
		spoil(&bad)
		if _, err := bad.Source(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
