package activity

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// Another thread moves the recording thread from CPU to CPU. If a look at the kernel's counters
// finds the thread on another CPU, the gap is called migrated, or has a cause that takes
// precedence; no other gap is called migrated.
func TestMovedThreadHasMigrated(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("there are no two CPUs to move a thread between: %v, %v", cpus, err)
	}
	const enough = 20
	var thread, moves, seen atomic.Int64
	over := make(chan struct{})
	moved := make(chan error, 1)
	go func() { moved <- move(&thread, &moves, &seen, cpus, over) }()
	before := int64(0)
	trace := recordWith(t, -1, func() bool {
		thread.Store(int64(unix.Gettid()))
		seen.Store(before) // a whole spell and a look have followed these moves
		before = moves.Load()
		return before >= enough
	})
	close(over)
	if err := <-moved; err != nil {
		t.Fatal(err)
	}
	a := Analyse(trace)
	tiles(t, trace)
	elsewhere, cpu := 0, -1
	called := map[Cause]int{}
	for _, j := range trace.Joins {
		if cpu >= 0 && j.Use.CPU != cpu {
			elsewhere++
			longest := j.From
			for i := j.From; i <= j.Gap; i++ {
				if trace.Gaps[i].Ticks > trace.Gaps[longest].Ticks {
					longest = i
				}
			}
			called[trace.Gaps[longest].Cause]++
		}
		cpu = j.Use.CPU
	}
	t.Logf("moved %d times, found elsewhere %d times, called %v; causes %v", moves.Load(), elsewhere, called, a.Causes)
	if elsewhere < enough/2 {
		t.Errorf("moved %d times, and %d looks found the thread elsewhere", moves.Load(), elsewhere)
	}
	if called[Migrated]+called[Throttled]+called[Stopped] != elsewhere || called[Migrated] == 0 {
		t.Errorf("of %d times that the thread was found elsewhere %d are called migrated: %v", elsewhere, called[Migrated], called)
	}
}

// A thread that is bound to a CPU, and moved to another one, ends its trace there and says so. An earlier version recorded on,
// and explained the gaps by the events of the CPU that the thread had left.
func TestTraceEndsWhereItsThreadIsMoved(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil || len(cpus) < 2 {
		t.Skipf("there are no two CPUs to move a thread between: %v, %v", cpus, err)
	}
	from, to := cpus[1], cpus[0]
	spells, movedAt := 0, time.Time{}
	moves := &witness{Context: t.Context(), spell: func() bool {
		if spells++; spells == 20 {
			var set unix.CPUSet
			set.Set(to)
			if err := unix.SchedSetaffinity(0, &set); err != nil {
				t.Error(err)
			}
			movedAt = time.Now()
		}
		return spells > 20 && time.Since(movedAt) > time.Second
	}}
	trace, err := Record(moves, childClock(), 1, Options{Duration: LongestDuration, CPU: from, Root: os.DirFS("/")})
	if err != nil {
		t.Fatalf("it went on after the move: %v", err)
	}
	a := Analyse(trace)
	tiles(t, trace)
	want := fmt.Sprintf("CPU %d: its thread was moved to CPU %d after ", from, to)
	if n := strings.Count(strings.Join(a.Caveats, "\n"), want); n != 1 {
		t.Errorf("%d caveats are like %q: %q", n, want, a.Caveats)
	}
	for i, j := range trace.Joins {
		if j.Use.CPU == from {
			continue
		}
		if i != len(trace.Joins)-1 || a.Causes[Migrated].Count+a.Causes[Throttled].Count == 0 {
			t.Errorf("join %d of %d is on CPU %d; causes %v", i, len(trace.Joins), j.Use.CPU, a.Causes)
		}
	}
}

// move binds the thread to one CPU after the other, each time once the thread has run on the
// previous one, until over is closed. Then it allows all CPUs again.
func move(thread, moves, seen *atomic.Int64, cpus []int, over <-chan struct{}) error {
	bind := func(cpus ...int) error {
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		if id := thread.Load(); id != 0 {
			defer moves.Add(1)
			return unix.SchedSetaffinity(int(id), &set)
		}
		return nil
	}
	for n := 0; ; n++ {
		if err := bind(cpus[n%len(cpus)]); err != nil {
			return err
		}
		for settled := false; !settled; settled = seen.Load() == moves.Load() {
			select {
			case <-over:
				return bind(cpus...)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}
