package activity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// stopped is what a child reports that was stopped.
type stopped struct {
	LongestNs     []float64
	CalledStopped int
}

// TestMain also runs the child that records while its parent stops it.
func TestMain(m *testing.M) {
	if os.Getenv("ACTIVITY_TEST_RECORD") == "" {
		os.Exit(m.Run())
	}
	ctx, end := context.WithCancel(background)
	go func() { // the parent closes the input when it is done or has ended
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	trace, err := Record(ctx, childClock(), 1, Options{Duration: LongestDuration, CPU: -1, Root: &begins{FS: os.DirFS("/")}})
	if !errors.Is(err, context.Canceled) {
		os.Exit(1)
	}
	Analyse(trace)
	var found stopped
	for _, g := range trace.Gaps {
		if g.Ticks > 20e6 {
			found.LongestNs = append(found.LongestNs, float64(g.Ticks))
			if g.Cause == Stopped {
				found.CalledStopped++
			}
		}
	}
	json.NewEncoder(os.Stdout).Encode(found)
}

// begins is a file system that says when a recording is about to begin. A recording reads the
// interrupts once before it touches its memory, which on a new virtual machine may take very long,
// and once after that.
type begins struct {
	fs.FS
	reads int
}

func (b *begins) Open(name string) (fs.File, error) {
	if name == "proc/interrupts" {
		if b.reads++; b.reads == 2 {
			fmt.Println(`"begins"`)
		}
	}
	return b.FS.Open(name)
}

// A process that is stopped twenty times shows twenty gaps: none is missing, and none is shorter
// than its stop. Between two stops the process has to get the CPU; otherwise they are one gap.
func TestStopsAreGaps(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "ACTIVITY_TEST_RECORD=1")
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
	answers := json.NewDecoder(out)
	var begun string
	if err := answers.Decode(&begun); err != nil {
		t.Fatal(err)
	}
	awaitCPU(t, child.Process.Pid, 20*time.Millisecond)
	const stops = 20
	var least time.Duration = time.Hour
	for range stops {
		// The stop begins between the two readings of the clock here, and ends between the next
		// two.
		child.Process.Signal(syscall.SIGSTOP)
		begun := time.Now()
		time.Sleep(50 * time.Millisecond)
		least = min(least, time.Since(begun))
		child.Process.Signal(syscall.SIGCONT)
		awaitCPU(t, child.Process.Pid, 20*time.Millisecond)
	}
	in.Close()
	var found stopped
	if err := answers.Decode(&found); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	long := 0
	for _, ns := range found.LongestNs {
		if ns >= 0.8*float64(least.Nanoseconds()) {
			long++
		}
	}
	if long < stops {
		t.Errorf("%d stops of %v or more show as %d gaps: %v", stops, least, long, found.LongestNs)
	}
	// On a busy machine the wait for a CPU after a stop may be longer than the stop.
	if found.CalledStopped == 0 {
		t.Errorf("of %d stops none is called that", stops)
	}
}

// awaitCPU waits until a process has used more CPU time than now, by more.
func awaitCPU(t *testing.T, pid int, more time.Duration) {
	t.Helper()
	used := func() (ns float64) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, file := range threads {
			var one float64
			text, _ := os.ReadFile(file)
			_, _ = fmt.Sscan(string(text), &one)
			ns += one
		}
		return ns
	}
	begun := used()
	for until := time.Now().Add(time.Minute); used()-begun < float64(more); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Skipf("/proc does not tell that process %d runs", pid)
		}
	}
}
