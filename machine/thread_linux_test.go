package machine

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A thread that works gains CPU time, a thread that sleeps gives up its CPU, and no counter ever
// falls.
func TestThreadLooksAtItself(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, err := OpenThread()
	if err != nil {
		t.Skip(err)
	}
	defer thread.Close()
	before, err := thread.Look()
	if err != nil {
		t.Fatal(err)
	}
	pause := unix.NsecToTimespec(int64(time.Millisecond))
	unix.Nanosleep(&pause, nil)
	for range 1_000_000 {
		runtime.KeepAlive(before)
	}
	after, err := thread.Look()
	if err != nil {
		t.Fatal(err)
	}
	use := after.Since(before)
	if use.CPUNs <= 0 || use.VoluntarySwitches < 1 || use.WaitNs < 0 || use.InvoluntarySwitches < 0 || use.MinorFaults < 0 {
		t.Errorf("%+v", use)
	}
	if cpus, err := Affinity(); err == nil && after.CPU > cpus[len(cpus)-1] {
		t.Errorf("on CPU %d of %v", after.CPU, cpus)
	}
	if allocs := testing.AllocsPerRun(100, func() { thread.Look() }); allocs > 0 {
		t.Errorf("a look allocates %v times", allocs)
	}
}

func TestParseSchedstatWait(t *testing.T) {
	for text, want := range map[string]int64{"600717 0 2\n": 0, "1 23 4\n": 23, "1 9223372036854775807 4": 1<<63 - 1} {
		if got, err := parseSchedstatWait([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1", "1 2", "1 x 3", "1 -2 3", "1 9223372036854775808 3", "0 0 0\n"} { // zeros of a thread that has run: the kernel does not count
		if got, err := parseSchedstatWait([]byte(text)); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}
