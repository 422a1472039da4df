package process

import (
	"runtime"
	"testing"
)

// The runtime's monitor woke up some 60 times beside each program, for 1 ms of CPU time. It sleeps
// where Go code runs on one CPU at a time and its thread waits.
func TestLaunchersKeepTheRuntimeQuiet(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	first, second := NewLauncher(), NewLauncher()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("Go code runs on %d CPUs beside programs", n)
	}
	first.Close()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("Go code runs on %d CPUs beside programs of the second launcher", n)
	}
	second.Close()
	if n := runtime.GOMAXPROCS(0); n != 3 {
		t.Errorf("Go code runs on %d CPUs once the launchers are closed, want 3", n)
	}
}
