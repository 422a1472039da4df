package load_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/internal/load"
	"chronoscope/machine"
)

// A filling competitor's session has the least share of a CPU, if the kernel shares it among sessions: with the usual share
// it took half of a program's time.
func TestFillingGivesWayToOtherSessions(t *testing.T) {
	if _, err := os.Stat("/proc/self/autogroup"); err != nil {
		t.Skip(err)
	}
	cpus, err := machine.Affinity()
	if err != nil {
		t.Fatal(err)
	}
	filling, err := load.Fill(t.Context(), cpus[:1])
	if err != nil {
		t.Fatal(err)
	}
	defer filling.Stop()
	var groups []string
	for range 100 { // it may not have computed yet
		groups = nil
		children, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, stat := range children {
			text, err := os.ReadFile(stat)
			if err != nil || !strings.Contains(string(text), fmt.Sprintf(") S %d ", os.Getpid())) && !strings.Contains(string(text), fmt.Sprintf(") R %d ", os.Getpid())) {
				continue
			}
			group, _ := os.ReadFile(filepath.Join(filepath.Dir(stat), "autogroup"))
			groups = append(groups, strings.TrimSpace(string(group)))
		}
		if len(groups) == 1 && strings.HasSuffix(groups[0], " nice 19") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("the sessions of this process's children: %q", groups)
}

// Without CAP_SYS_ADMIN the kernel refuses to change the niceness of a second session within 0.1 s. Only the first of
// several filling competitors gave way.
func TestFillingsGiveWayWithoutRights(t *testing.T) {
	started := make(chan *exec.Cmd)
	go func() {
		defer close(started)
		runtime.LockOSThread() // never unlocked: the thread without the capability ends
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0)
		started <- startStarter(t, load.Filling)
	}()
	program := <-started
	if program == nil {
		t.FailNow()
	}
	defer program.Wait()
	defer program.Process.Kill()
	haveNiceness(t, children(t, program.Process.Pid), 3, 19)
}

// A nice competitor is nice to programs of other sessions, too. In a session of its own its niceness meant nothing.
func TestNice(t *testing.T) {
	l, err := load.StartNice(t.Context(), 2, load.Registers, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	running := children(t, os.Getpid())
	for _, id := range running {
		if nice, err := unix.Getpriority(unix.PRIO_PROCESS, id); err != nil || 20-nice != 5 { // the system call's result is 20 less
			t.Errorf("a niceness of %d, %v", 20-nice, err)
		}
	}
	haveNiceness(t, running, 2, 5)
}

// haveNiceness checks the number of processes, and the niceness of their sessions.
func haveNiceness(t *testing.T, processes []int, n, nice int) {
	t.Helper()
	if len(processes) != n {
		t.Errorf("%d competitors run", len(processes))
	}
	for _, id := range processes {
		group, err := os.ReadFile(fmt.Sprintf("/proc/%d/autogroup", id))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("this kernel does not share CPUs among sessions")
		}
		if want := fmt.Sprintf(" nice %d\n", nice); !strings.HasSuffix(string(group), want) {
			t.Errorf("the session of a competitor: %q, %v, not%s", group, err, want)
		}
	}
}
