package activity

import (
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
)

// A recording that waits for a gap drops what was recorded before its last turn but one. The rest
// is as if the recording had begun there.
func TestForget(t *testing.T) {
	c, err := clock.Open("go-time-now")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := newRecorder(c, 1, Options{Until: time.Second, CPU: -1})
	if err != nil {
		t.Fatal(err)
	}
	const start, turnAt = 1000, 6000
	r.start, r.last, r.pending = start, 12000, 3
	r.opened = turn{at: start}
	r.turn = turn{at: turnAt, interrupts: machine.Interrupts{"LOC": {0: 7}}}
	for _, at := range []int64{100, 4000, 5000, 7000, 9000} {
		r.trace.Gaps = append(r.trace.Gaps, Gap{Start: at, Ticks: 10})
	}
	r.trace.Joins = []Join{{From: 0, Gap: 0}, {From: 1, Gap: 2}, {From: 2, Gap: 2}, {From: 3, Gap: 4}}
	r.trace.Anchors = []Anchor{{0, 50}, {4000, 4050}, {8000, 8050}}
	r.forget()
	want := []Gap{{Start: 0, Ticks: 10}, {Start: 2000, Ticks: 10}, {Start: 4000, Ticks: 10}}
	if len(r.trace.Gaps) != len(want) {
		t.Fatalf("%+v", r.trace.Gaps)
	}
	for i, g := range r.trace.Gaps {
		if g != want[i] {
			t.Errorf("gap %d is %+v, want %+v", i, g, want[i])
		}
	}
	if j := r.trace.Joins; len(j) != 2 || j[0].From != 0 || j[0].Gap != 0 || j[1].From != 1 || j[1].Gap != 2 {
		t.Errorf("%+v", j)
	}
	if a := r.trace.Anchors; len(a) != 2 || a[0] != (Anchor{-1000, 4050}) || a[1] != (Anchor{3000, 8050}) {
		t.Errorf("%+v", a)
	}
	if r.start != turnAt || r.opened.interrupts["LOC"][0] != 7 || r.turn.at != 12000 || r.pending != 1 {
		t.Errorf("it begins at %d, the next turn is %d, pending is %d", r.start, r.turn.at, r.pending)
	}
}

// The gap that forget causes counts as the recording's own and does not end it; a gap at another
// time does.
func TestLate(t *testing.T) {
	r := &recorder{trace: &Trace{TickNs: 1}, options: Options{Until: time.Millisecond}, start: 100, turn: turn{at: 600}}
	for _, c := range []struct {
		gap  Gap
		want float64
	}{
		{Gap{Start: 500, Ticks: 2e6, Own: true}, 0},
		{Gap{Start: 500, Ticks: 2e6}, 2e6},
		{Gap{Start: 90_000, Ticks: 3e6, Own: true}, 3e6},
		{Gap{Start: 90_000, Ticks: 0.9e6}, 0},
	} {
		if got := r.late([]Gap{c.gap}); got != c.want {
			t.Errorf("%+v ends the recording with %v, want %v", c.gap, got, c.want)
		}
	}
}

// A timer interrupts every CPU sooner or later, which ends the recording.
func TestUntil(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	c, err := clock.Open("go-time-now")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	trace, err := Record(t.Context(), c, 1, Options{Until: 2 * time.Microsecond, Duration: LongestWatch, CPU: -1})
	if err != nil || trace.LateNs < 2000 {
		t.Errorf("%v, %v", trace, err)
	}
	if _, err := Record(t.Context(), c, 1, Options{Duration: LongestWatch, CPU: -1}); err == nil {
		t.Error("a day is recorded")
	}
}
