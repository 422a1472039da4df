package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// mustWatch skips where this system forbids it.
func mustWatch(t *testing.T, r Run, err error) Run {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if r.Unwatched != nil {
		t.Skipf("no events here: %v", r.Unwatched)
	}
	return r
}

func count(events []Event, kind EventKind) (n int) {
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// The kernel notes a shell, its child, that it sleeps, and their ends: traced or not, from
// a launcher or without.
func TestEvents(t *testing.T) {
	l := NewLauncher()
	defer l.Close()
	c := shell("sleep 0.05; sleep 0.05; exit 3")
	c.Events = true
	for _, untraced := range []bool{true, false, true} {
		c.Untraced = untraced
		for name, run := range map[string]func(context.Context) (Run, error){"alone": c.Run, "launcher": func(ctx context.Context) (Run, error) { return l.Run(ctx, c) }} {
			r, err := run(background)
			r = mustWatch(t, r, err)
			if r.ExitCode != 3 || r.WallNs < 100e6 || r.WallErrorNs != 0 {
				t.Errorf("%s, untraced %v: exit status %d after %d ± %d ns", name, untraced, r.ExitCode, r.WallNs, r.WallErrorNs)
			}
			for _, thread := range r.Threads {
				if after := thread.ReadNs > r.WallNs; after != (r.Untraced != nil) || after && thread.LateNs <= 0 {
					t.Errorf("%s, untraced %v: it had ended %d ns after its exec, and was read as %+v", name, untraced, r.WallNs, thread)
				}
			}
			if forks, exits, blocks := count(r.Events, Forked), count(r.Events, Exited), count(r.Events, Blocked); forks != 3 || exits != 3 || blocks < 2 { // a shell that was kept from its CPU finds a child that has ended
				t.Errorf("%s, untraced %v: %d forks, %d exits, %d blocks: %+v", name, untraced, forks, exits, blocks, r.Events)
			}
			for i := 1; i < len(r.Events); i++ {
				if r.Events[i].AtNs < r.Events[i-1].AtNs {
					t.Fatalf("event %d comes before the one before: %+v", i, r.Events)
				}
			}
		}
	}
}

// More switches than the buffers hold are all noted, or what is lost is said.
func TestManyEvents(t *testing.T) {
	l := NewLauncher()
	defer l.Close()
	c := shell("i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done | while read x; do :; done")
	c.Events, c.Untraced = true, true
	r, err := l.Run(background, c)
	r = mustWatch(t, r, err)
	in, out := count(r.Events, SwitchedIn), count(r.Events, Blocked)+count(r.Events, Preempted)+count(r.Events, Exited)
	if d := in - out; r.LostEvents == 0 && (d < -4 || d > 4) {
		t.Errorf("%d times on a CPU, and %d times off it, of %d events", in, out, len(r.Events))
	}
}

func TestLauncherEndsWhatItStarts(t *testing.T) {
	l := NewLauncher()
	defer l.Close()
	ctx, cancel := context.WithTimeout(background, 100*time.Millisecond)
	defer cancel()
	c := shell("yes")
	c.Stdout, c.Events, c.Untraced = io.Discard, true, true
	if _, err := l.Run(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	var start *StartError
	if _, err := l.Run(background, Command{Path: "/no/such/program", Untraced: true}); !errors.As(err, &start) {
		t.Errorf("%v", err)
	}
	var out bytes.Buffer
	c = shell("sleep 1000 & echo $!")
	c.Stdout, c.Untraced = &out, true
	if _, err := l.Run(background, c); err != nil {
		t.Error(err)
	}
	gone(t, strings.TrimSpace(out.String()))
}

// Several launchers beside one another don't see one another's programs.
func TestLaunchersBeside(t *testing.T) {
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			l := NewLauncher()
			defer l.Close()
			for range 10 {
				r, err := l.Run(background, Command{Path: "/bin/true", Events: true, Untraced: true})
				if err != nil || r.Unwatched == nil && count(r.Events, Exited) != 1 {
					t.Errorf("%+v, %v", r.Events, err)
				}
			}
		})
	}
	all.Wait()
}

func TestLook(t *testing.T) {
	before, err := Look(1 << 30)
	if err == nil || !strings.Contains(err.Error(), "check that it runs") {
		t.Errorf("a process that is not there: %+v, %v", before, err)
	}
	for text, want := range map[string]bool{
		"1 (a) b) S 1 1 1 0 -1 0 7 0 8 0 9 10 0 0": true, "": false, "1 (a)": false, "1 (a) S 1 1 1 0 -1 0 x 0 8 0 9 10 0 0": false, "1 (a) S 1 1 1 0 -1 0 -7 0 8 0 9 10 0": false,
	} {
		user, system, minor, major, err := parseStat([]byte(text))
		if (err == nil) != want || want && (user != 90e6 || system != 100e6 || minor != 7 || major != 8) {
			t.Errorf("%q: %d, %d, %d, %d, %v", text, user, system, minor, major, err)
		}
	}
}

// A program that an ordinary user may not read was said to have ended at its exec, where it
// lasted for less than 20 ms.
func TestUnreadablePrograms(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it takes root to make such a file, and to start it as another")
	}
	setpriv, err1 := exec.LookPath("setpriv")
	sleep, err2 := exec.LookPath("sleep")
	if err := errors.Join(err1, err2); err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "") // those of the test are root's alone
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	unreadable := filepath.Join(folder, "sleep")
	if err := os.WriteFile(unreadable, text, 0o111); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := Command{
		Path: setpriv, Args: []string{"--reuid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", os.Args[0], unreadable, "0.01"},
		Env: append(os.Environ(), "PROCESS_TEST_PROGRAM=watches"), Stdout: &out, Stderr: &out, Untraced: true,
	}
	if r, err := c.Run(background); err != nil || r.Failure() != nil || out.String() != "10 ms or more, 0 events\n" {
		t.Errorf("%+v, %v: %s", r, err, &out)
	}
}

// What a thread does after its exit is not the program's: a watch of whole CPUs also notes its last switch, which looked
// like one more wait of the program.
func TestNothingFollowsTheEnd(t *testing.T) {
	l := NewLauncher()
	defer l.Close()
	for _, untraced := range []bool{false, true} {
		c := Command{Path: "sleep", Args: []string{"0.01"}, Events: true, Untraced: untraced}
		r, err := l.Run(background, c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Unwatched != nil {
			t.Skipf("no events here: %v", r.Unwatched)
		}
		if last := r.Events[len(r.Events)-1]; last.Kind != Exited {
			t.Errorf("untraced: %v: the last event is %+v", untraced, last)
		}
	}
}

// A tracer may wait for long, while the program switches often: the buffers, small ones here, are emptied meanwhile. All but
// the first records were lost.
func TestDrainMeanwhile(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	w := &watch{}
	defer w.close()
	const pages, sleeps = 2, 300
	if err := w.open(0, cpus, pages); err != nil {
		t.Skip(err)
	}
	stop := w.drainMeanwhile()
	err = exec.Command("sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do sleep 0.001; i=$((i+1)); done", sleeps)).Run()
	stop()
	w.drain()
	if err != nil || w.lost > 0 || len(w.records) < 4*sleeps {
		t.Errorf("%v: %d records, %d lost; %d programs began, slept, woke and ended", err, len(w.records), w.lost, sleeps)
	}
}

// Rights are no remedy where the kernel has no perf events at all.
func TestUnwatched(t *testing.T) {
	for refused, rights := range map[error]bool{unix.EPERM: true, unix.EACCES: true, unix.ENODEV: false, unix.ENOSYS: false} {
		if err := unwatched(refused); !errors.Is(err, refused) || strings.Contains(err.Error(), "perf_event_paranoid") != rights {
			t.Errorf("%v: %v", refused, err)
		}
	}
}
