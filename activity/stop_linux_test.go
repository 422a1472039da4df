package activity

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// stopped is what a child that was stopped tells.
type stopped struct {
	LongestNs     []float64
	CalledStopped int
}

// TestMain is also the child that records while its parent stops it.
func TestMain(m *testing.M) {
	if os.Getenv("ACTIVITY_TEST_RECORD") == "" {
		os.Exit(m.Run())
	}
	trace, err := Record(background, childClock(), 1, Options{Duration: 3 * time.Second, CPU: -1, Root: os.DirFS("/")})
	if err != nil {
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

// A process that is stopped twenty times shows twenty gaps, none lost, none shorter
// than the stop was.
func TestStopsAreGaps(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "ACTIVITY_TEST_RECORD=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	const stops = 20
	var least time.Duration = time.Hour
	for range stops {
		// The stop takes effect between the two calls, and ends between the next two.
		child.Process.Signal(syscall.SIGSTOP)
		begun := time.Now()
		time.Sleep(50 * time.Millisecond)
		least = min(least, time.Since(begun))
		child.Process.Signal(syscall.SIGCONT)
		time.Sleep(40 * time.Millisecond)
	}
	var found stopped
	if err := json.NewDecoder(out).Decode(&found); err != nil {
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
	if found.CalledStopped < stops*9/10 {
		t.Errorf("of %d stops %d are called that", stops, found.CalledStopped)
	}
}
