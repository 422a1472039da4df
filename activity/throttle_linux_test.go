package activity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chronoscope/machine"
)

// bandwidth is a control group with a CPU limit, in version 1 or 2 of the interface
// (Documentation/scheduler/sched-bwc.rst, Documentation/admin-guide/cgroup-v2.rst).
type bandwidth struct {
	directory string
	version   int
}

// newBandwidth makes a group without a limit, or skips the test with the reason why it can't.
func newBandwidth(t *testing.T) bandwidth {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Skipf("control groups can't be found: %v", err)
	}
	reasons := []error{errors.New("no hierarchy with a CPU controller is mounted")}
	for line := range strings.Lines(string(mounts)) {
		where, what, _ := strings.Cut(line, " - ")
		left, right := strings.Fields(where), strings.Fields(what)
		if len(left) < 5 || len(right) < 3 {
			continue
		}
		b := bandwidth{directory: filepath.Join(left[4], fmt.Sprintf("chronoscope-test-%d", os.Getpid()))}
		switch {
		case right[0] == "cgroup" && slices.Contains(strings.Split(right[2], ","), "cpu"):
			b.version = 1
		case right[0] == "cgroup2":
			b.version = 2
		default:
			continue
		}
		err := b.create(t)
		if err == nil {
			return b
		}
		reasons = append(reasons, err)
	}
	t.Skipf("no control group with a CPU limit can be made here (it takes root, and a hierarchy that may be written): %v", errors.Join(reasons...))
	return bandwidth{}
}

// create makes the group's directory. In version 2 its parent must enable the controller for it,
// until the test is over.
func (b bandwidth) create(t *testing.T) error {
	if b.version == 2 {
		control := filepath.Join(filepath.Dir(b.directory), "cgroup.subtree_control")
		before, err := os.ReadFile(control)
		if err != nil {
			return err
		}
		if !slices.Contains(strings.Fields(string(before)), "cpu") {
			if err := os.WriteFile(control, []byte("+cpu"), 0); err != nil {
				return err
			}
			t.Cleanup(func() { os.WriteFile(control, []byte("-cpu"), 0) })
		}
	}
	if err := os.Mkdir(b.directory, 0o755); err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := os.Remove(b.directory); err != nil {
			t.Errorf("the control group is left behind: %v", err)
		}
	})
	return b.limit("none")
}

// limit sets the quota for each period of 100 ms, in microseconds; "none" removes it.
func (b bandwidth) limit(quotaUs string) error {
	if b.version == 2 {
		if quotaUs == "none" {
			quotaUs = "max"
		}
		return os.WriteFile(filepath.Join(b.directory, "cpu.max"), []byte(quotaUs+" 100000"), 0)
	}
	if quotaUs == "none" {
		quotaUs = "-1"
	}
	return os.WriteFile(filepath.Join(b.directory, "cpu.cfs_quota_us"), []byte(quotaUs), 0)
}

// admit moves a process into the group.
func (b bandwidth) admit(pid int) error {
	return os.WriteFile(filepath.Join(b.directory, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
}

// throttled returns the number of periods in which the group was throttled, and the time.
func (b bandwidth) throttled(t *testing.T) (periods int, ns float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.directory, "cpu.stat"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var name string
		var value int64
		fmt.Sscan(line, &name, &value)
		switch name {
		case "nr_throttled":
			periods = int(value)
		case "throttled_time":
			ns = float64(value)
		case "throttled_usec":
			ns = 1e3 * float64(value)
		}
	}
	return periods, ns
}

const throttleVariable = "ACTIVITY_TEST_THROTTLE"

// TestThrottledChild is the child that records itself. It begins when a line arrives on its input,
// reports that it has begun, and ends when its input ends.
func TestThrottledChild(t *testing.T) {
	if os.Getenv(throttleVariable) == "" {
		t.Skip("a child of TestThrottledByControlGroup")
	}
	os.Stdin.Read(make([]byte, 1))
	over := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	begun := false
	trace := recordWith(t, someCPU(t), func() bool {
		if !begun {
			begun = true
			os.Stdout.Write([]byte{0})
		}
		select {
		case <-over:
			return true
		default:
			return false
		}
	})
	if err := json.NewEncoder(os.Stdout).Encode(trace); err != nil {
		t.Fatal(err)
	}
}

// A process whose control group uses up its quota again and again shows as many throttled gaps as
// the kernel counts throttled periods. The gaps are at least as long as the time that the kernel
// reports, and the trace is complete.
func TestThrottledByControlGroup(t *testing.T) {
	group := newBandwidth(t)
	restore, err := machine.Pin([]int{someCPU(t)}) // the child inherits it
	if err != nil {
		t.Skipf("threads can't be bound to a CPU: %v", err)
	}
	child := childCommand(t, "TestThrottledChild", throttleVariable)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = child.Start()
	restore()
	if err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer in.Close()
	if err := group.admit(child.Process.Pid); err != nil {
		t.Fatal(err)
	}
	in.Write([]byte{0})
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatalf("the child has not begun: %v", err)
	}
	const enough = 8
	if err := group.limit("20000"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if n, _ := group.throttled(t); n >= enough {
			break
		}
	}
	if err := group.limit("none"); err != nil {
		t.Fatal(err)
	}
	in.Close()
	var trace Trace
	if err := json.NewDecoder(out).Decode(&trace); err != nil {
		t.Fatalf("the child's trace: %v", err)
	}
	periods, ns := group.throttled(t)
	if periods < enough {
		t.Skipf("on this machine the group was throttled %d times in 10 s", periods)
	}
	a := Analyse(&trace)
	tiles(t, &trace)
	got := a.Causes[Throttled]
	t.Logf("version %d: throttled %d times for %.1f ms, the kernel counted %d and %.1f ms; wait %.1f ms; causes %v", group.version, got.Count, got.TotalNs/1e6, periods, ns/1e6, a.WaitNs/1e6, a.Causes)
	if got.Count < periods-2 || got.Count > 2*periods || got.TotalNs < 0.95*ns {
		t.Errorf("throttled %d times for %.1f ms, the kernel counted %d and %.1f ms", got.Count, got.TotalNs/1e6, periods, ns/1e6)
	}
}
