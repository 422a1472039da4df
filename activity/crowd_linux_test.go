package activity

import (
	"io"
	"math"
	"os"
	"runtime"
	"testing"

	"chronoscope/machine"
)

const competeVariable = "ACTIVITY_TEST_COMPETE"

// TestCompetitor is the child that keeps a CPU busy until its input ends.
func TestCompetitor(t *testing.T) {
	if os.Getenv(competeVariable) == "" {
		t.Skip("a child of TestOneCPUSharedByEleven")
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	os.Stdout.WriteString("\n")
	for {
		runtime.Gosched() // lets the goroutine run that reads the input
	}
}

// compete keeps n processes busy on the CPU cpu until the test is over.
func compete(t *testing.T, cpu, n int) {
	t.Helper()
	restore, err := machine.Pin([]int{cpu}) // children inherit the affinity
	if err != nil {
		t.Skipf("threads can't be bound to a CPU: %v", err)
	}
	defer restore()
	for range n {
		child := childCommand(t, "TestCompetitor", competeVariable)
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			child.Wait()
		})
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatalf("a competitor has not begun: %v", err)
		}
	}
}

// With ten competitors on its CPU the thread's trace is complete. The gaps that it calls preempted,
// or throttled under a quota, add up to the run-queue wait that the kernel counted for the thread
// from the beginning of the trace to its end. A wait between a look and the reading of the clock
// next to it may be missing from one of the two sums. Under load they may differ by some percent
// for that reason, in at most one of three recordings.
func TestOneCPUSharedByEleven(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	cpu := someCPU(t)
	compete(t, cpu, 10)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, err := machine.OpenThread()
	if err != nil {
		t.Skipf("this kernel does not count run-queue waits: %v", err)
	}
	defer thread.Close()
	for range 3 {
		kept, wait := keptNs(t, cpu, thread)
		if math.Abs(kept/wait-1) <= 0.02 {
			return
		}
	}
	t.Error("in none of three recordings was it kept from running as long as the kernel counted")
}

// keptNs records for a second. It returns how long the thread was kept from running according to
// the trace, and according to the kernel.
func keptNs(t *testing.T, cpu int, thread *machine.Thread) (kept, wait float64) {
	t.Helper()
	c := childClock()
	var first, last machine.ThreadUse
	start := int64(0)
	trace := recordWith(t, cpu, func() bool {
		use, err := thread.Look()
		if err != nil {
			t.Error(err)
			return true
		}
		if start == 0 {
			start, first = c.Read(), use
		}
		last = use
		return c.Read()-start > 1e9
	})
	a := Analyse(trace)
	tiles(t, trace)
	wait = float64(last.Since(first).WaitNs)
	kept = a.Causes[Preempted].TotalNs + a.Causes[Throttled].TotalNs
	t.Logf("kept from running for %.3f ms, the kernel counted %.3f ms (%+.3f %%), of them %.3f ms in looks; causes %v", kept/1e6, wait/1e6, 100*(kept/wait-1), a.WaitNs/1e6, a.Causes)
	return kept, wait
}
