package bytecode

import (
	"testing"
	"time"
)

// A run that is late shortens its remaining starts, and a run that is in time does not.
func TestLateRunsAreShortened(t *testing.T) {
	starts := []plannedStart{{duration: 20 * time.Second}, {duration: 20 * time.Second}}
	for left, want := range map[time.Duration]time.Duration{
		60 * time.Second: 20 * time.Second, 40 * time.Second: 20 * time.Second, 30 * time.Second: 15 * time.Second,
		10 * time.Second: 10 * time.Second, -time.Second: 10 * time.Second,
	} {
		if got := shortened(starts, left); got != want {
			t.Errorf("%v left: %v, want %v", left, got, want)
		}
	}
}

// Nine stretches remain, and one for the sentinels at the end. Together with the empty sequences and the
// sentinels of the groups they take the time of 14 stretches, so that 280 ms are 20 ms for each.
func TestLateStartsShortenStretches(t *testing.T) {
	p := passes{order: make([]*sequence, 11), next: 2, group: 10, stretch: 40 * time.Millisecond}
	for left, want := range map[time.Duration]time.Duration{
		time.Second: 40 * time.Millisecond, 280 * time.Millisecond: 20 * time.Millisecond, 0: leastStretch, -time.Second: leastStretch,
	} {
		if got := p.inTime(left); got < want-time.Microsecond || got > want+time.Microsecond {
			t.Errorf("%v left: %v, want %v", left, got, want)
		}
	}
}

// A start that keeps to its plan does not shorten its stretches.
func TestStretchesInTimeStay(t *testing.T) {
	all, err := sequences(Catalogue()[:40], false, 10)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{all: all}
	r.random = newWorld(1).random
	for _, d := range []time.Duration{2 * time.Second, 25 * time.Second} {
		p := r.passes(d)
		left := time.Duration(allowance * float64(d))
		for ; p.next < len(p.order); p.next++ {
			if got := p.inTime(left); got != p.stretch {
				t.Fatalf("%v: after %d of %d stretches they take %v instead of %v", d, p.next, len(p.order), got, p.stretch)
			}
			left -= time.Duration(p.stretches(1) * float64(p.stretch))
		}
	}
}

// If time is short, fewer virtual machines are started, but never too few for an interval. Each takes no
// longer than its time, including the time to start it.
func TestShortRunsStartFewerMachines(t *testing.T) {
	for d, want := range map[time.Duration]int{
		time.Millisecond: fewestStarts, 3500 * time.Millisecond: 3, 4 * time.Second: 4, 5 * time.Second: 5, time.Hour: 5,
	} {
		if got := fitting(5, d); got != want {
			t.Errorf("%v: %d starts, want %d", d, got, want)
		}
	}
	if got := fitting(2, time.Millisecond); got != 2 {
		t.Errorf("%d starts of 2", got)
	}
	r := &running{Options: Options{Mode: Interpreter, Duration: time.Second, ReferenceDuration: 100 * time.Second}, joint: []Method{Counter}, library: "x"}
	for reference, want := range map[time.Duration]int{
		DefaultReferenceDuration: 5, 25 * time.Second: 10, time.Hour: 24, // many short starts tell more than one long one
	} {
		r.ReferenceDuration = reference
		if got := len(r.plan()); got != fewestStarts+want {
			t.Errorf("a reference of %v: %d starts are planned", reference, got)
		}
	}
}

// The reference's starts are spread over the whole run, because the machine drifts during a run.
func TestReferencesAreSpread(t *testing.T) {
	for _, c := range []struct{ reference, joint time.Duration }{
		{50 * time.Second, 250 * time.Second}, {150 * time.Second, 750 * time.Second}, {9 * time.Second, 300 * time.Second}, {25 * time.Second, 5 * time.Second},
	} {
		r := &running{Options: Options{Mode: Interpreter, Duration: c.joint, ReferenceDuration: c.reference}, joint: []Method{Counter}, library: "x"}
		all := r.plan()
		alone := 0
		for _, s := range all {
			if s.alone {
				alone++
			}
		}
		inARow, most := 0, (alone+len(all)-alone-1)/(len(all)-alone)+1
		for _, s := range all {
			if inARow++; !s.alone {
				inARow = 0
			}
			if inARow > most {
				t.Fatalf("%+v: %d starts of the reference in a row, of %d beside %d others", c, inARow, alone, len(all)-alone)
			}
		}
	}
}

// If the reference can't be read, the other methods get all of the time.
func TestTimeOfNoReference(t *testing.T) {
	r := &running{Options: Options{Mode: Interpreter, Duration: 250 * time.Second, ReferenceDuration: 50 * time.Second}, joint: []Method{Counter}}
	var all time.Duration
	for _, s := range r.plan() {
		all += s.duration
	}
	if all != 300*time.Second {
		t.Errorf("%v in all", all)
	}
}

// A group holds each sequence at most once, and at most ten sequences. A group of one sequence has four
// further stretches for that one; of forty sequences, each has a share of four tenths.
func TestPassesOfFewSequences(t *testing.T) {
	for chosen, want := range map[int]struct{ group, order int }{
		1:  {1, 10}, // 4 s are 100 stretches, 5 for the sequence of each pass and for the sentinels at the end
		40: {10, 80},
	} {
		all, err := sequences(Catalogue()[1:][:chosen], false, 10)
		if err != nil {
			t.Fatal(err)
		}
		r := &running{all: all}
		r.random = newWorld(1).random
		p := r.passes(4 * time.Second)
		if p.group != want.group || len(p.order) != want.order {
			t.Errorf("%d sequences: groups of %d, %d in all, want %+v", chosen, p.group, len(p.order), want)
		}
	}
}
