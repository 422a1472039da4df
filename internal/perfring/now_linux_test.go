package perfring

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The time of a record lies between two readings of Now, also if a time namespace shifts CLOCK_MONOTONIC for this process.
// An earlier version returned the shifted time. Half of the shift is allowed for.
func TestNowInATimeNamespace(t *testing.T) {
	const child = "PERFRING_TEST_NAMESPACE"
	if os.Getenv(child) != "" {
		nowIsTheRecords(t, 5e8)
		return
	}
	for _, shift := range []string{"3600", "1", "-1"} {
		namespace := []string{"-fT", "--monotonic", shift, "--boottime", shift}
		if said, err := exec.Command("unshare", append(namespace, "true")...).CombinedOutput(); err != nil {
			t.Skipf("no time namespace: %v: %s", err, said)
		}
		c := exec.Command("unshare", append(namespace, os.Args[0], "-test.v", "-test.run=^TestNowInATimeNamespace$")...)
		c.Env = append(os.Environ(), child+"=1")
		switch said, err := c.CombinedOutput(); {
		case err != nil:
			t.Errorf("shifted by %s s: %v: %s", shift, err, said)
		case strings.Contains(string(said), "--- SKIP"):
			t.Skipf("%s", said)
		}
	}
}

// nowIsTheRecords has the kernel note something of this thread between two readings of Now.
func nowIsTheRecords(t *testing.T, offNs int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := Open(&unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Sample_type: unix.PERF_SAMPLE_TIME,
		Bits:    unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitComm | unix.PerfBitSampleIDAll | unix.PerfBitUseClockID,
		Clockid: unix.CLOCK_MONOTONIC,
	}, 0, -1, 1)
	if err != nil {
		t.Skip(err)
	}
	defer r.Close()
	before := Now()
	if err := os.WriteFile("/proc/thread-self/comm", []byte("named"), 0); err != nil {
		t.Skip(err)
	}
	at, ok := noted(r.Take(nil))
	if after := Now(); !ok || at < before-offNs || at > after+offNs {
		t.Errorf("noted (%t) at %d, between %d and %d", ok, at, before, after)
	}
}

// A clock is ahead if a record's time is not between two readings of it. The difference is exact to half of their distance.
func TestAheadOf(t *testing.T) {
	for _, c := range []struct{ at, before, after, want int64 }{
		{100, 100, 110, 0}, {110, 100, 110, 0}, {99, 100, 110, 6}, {111, 100, 110, -6}, {105, 3_600_000_000_100, 3_600_000_000_110, 3_600_000_000_000}, {3_600_000_000_105, 100, 110, -3_600_000_000_000},
	} {
		if got := aheadOf(c.at, c.before, c.after); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
