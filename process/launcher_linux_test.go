package process

import (
	"runtime"
	"sync/atomic"
	"testing"

	"chronoscope/machine"
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

// Two programs on one CPU run at the same time: each waits for the CPU while the other has it. Beside a launcher, Go code meanwhile
// runs on two CPUs, or one program would be started late.
func TestTogether(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	l := NewLauncher()
	var procs atomic.Int64
	loop := Command{
		Path: "sh", Args: []string{"-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"}, CPUs: cpus[:1], Untraced: true,
		Started: func(int) { procs.Store(int64(runtime.GOMAXPROCS(0))) },
	}
	runs, errs := Together(t.Context(), [2]Command{loop, loop})
	if n := runtime.GOMAXPROCS(0); procs.Load() < 2 || n != 1 {
		t.Errorf("Go code ran on %d CPUs meanwhile, and on %d after that", procs.Load(), n)
	}
	if l.Close(); runtime.GOMAXPROCS(0) != 3 {
		t.Errorf("Go code runs on %d CPUs in the end", runtime.GOMAXPROCS(0))
	}
	for i, r := range runs {
		if errs[i] != nil || r.Failure() != nil || r.WaitOf == FirstThread && r.WaitNs() < r.CPUNs()/10 {
			t.Errorf("program %d: %v, %v; it ran for %d ns, and waited for %d", i, errs[i], r.Failure(), r.CPUNs(), r.WaitNs())
		}
	}
}
