package program

import (
	"os"
	"runtime"
	"testing"
	"time"

	"chronoscope/process"
	"chronoscope/tracepoint"
)

// Where tracepoints may be recorded, they tell who ended blocks of a program that waits for its child, and
// nothing stays open afterwards.
func TestWakeupsHere(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	r, err := tracepoint.Open()
	if err != nil {
		t.Skip(err)
	}
	r.Close()
	if w := openWakeups(false); w.recorder == nil {
		t.Skip("its process numbers are not the kernel's own")
	} else {
		w.close()
	}
	before, goroutines := 0, 0
	c := Command{Name: "waits", Command: process.Command{Path: "sh", Args: []string{"-c", "/bin/sleep 0.01; /bin/true"}}}
	for _, without := range []bool{true, false} {
		plan := Plan{Precision: 0.5, MinRuns: 10, MaxRuns: 12, MaxTime: 20 * time.Second}
		all, err := Measure(background, []Command{c}, plan, Setting{NoWakeups: without}, nil)
		if err != nil || all[0].Failure != nil {
			t.Fatal(err, all[0].Failure)
		}
		known := 0
		for _, run := range all[0].Runs {
			known += run.traced.blocksKnown
		}
		if without == (known > 0) {
			t.Errorf("without tracepoints %v: of %d blocks it is known who ended them: %q", without, known, all[0].Reasons)
		}
		if without {
			before, goroutines = openFiles(t), runtime.NumGoroutine()
		}
	}
	for range 100 { // what a launcher has ends after it
		if openFiles(t) <= before && runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d files are open and %d goroutines run, before %d and %d", openFiles(t), runtime.NumGoroutine(), before, goroutines)
}

// Timed calls are recorded once a program asks for them, and from then on; a recorder that may not record
// stays one.
func TestRecordsTimedCallsOnDemand(t *testing.T) {
	var w *wakeupRecorder
	for i, c := range []struct{ asked, timed bool }{{false, false}, {true, true}, {false, true}} {
		if w = w.with(c.asked); w.recorder != nil && w.timed != c.timed {
			t.Errorf("step %d: timed calls are recorded: %v, want %v", i, w.timed, c.timed)
		}
	}
	w.close()
	if closed := (&wakeupRecorder{}); closed.with(true) != closed {
		t.Error("a recorder that may not record was opened again")
	}
}

func openFiles(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
