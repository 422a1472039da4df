package load_test

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
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chronoscope/internal/load"
	"chronoscope/machine"
)

const starter, kindOf, pauses = "LOAD_TEST_STARTER", "LOAD_TEST_KIND", "LOAD_TEST_PAUSES"

// TestMain runs the tests, or serves as a competitor, or as a program that starts competitors and is
// then killed.
func TestMain(m *testing.M) {
	load.Serve()
	if os.Getenv(starter) != "" {
		os.Unsetenv(starter)
		l, err := load.Start(context.Background(), 3, load.Kind(os.Getenv(kindOf)), nil)
		if err == nil && os.Getenv(pauses) != "" {
			time.Sleep(100 * time.Millisecond) // some jobs run by then
			err = l.Pause()
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("started")
		select {}
	}
	os.Exit(m.Run())
}

// children returns the processes that a process has started and that still run.
func children(t *testing.T, parent int) (running []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		t.Skip("no /proc here")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) || fields[0] == "Z" {
			continue
		}
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		running = append(running, id)
	}
	return running
}

func gone(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(text, []byte(") Z "))
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 1000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(what)
}

// Competitors of all kinds start, run on the right CPUs, and end.
func TestStart(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	last := cpus[len(cpus)-1]
	for _, kind := range load.Kinds {
		l, err := load.Start(t.Context(), 2, kind, []int{last})
		if err != nil {
			t.Fatal(err)
		}
		running := children(t, os.Getpid())
		if len(running) != 2 {
			t.Errorf("%s: %d run", kind, len(running))
		}
		for _, id := range running {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
			if want := fmt.Sprintf("Cpus_allowed_list:\t%d\n", last); !strings.Contains(string(status), want) {
				t.Errorf("%s: it may run on other CPUs than %d", kind, last)
			}
		}
		if l.Lost() != 0 {
			t.Errorf("%s: %d lost", kind, l.Lost())
		}
		l.Stop()
		l.Stop()
		if left := children(t, os.Getpid()); len(left) > 0 || l.Lost() != 0 {
			t.Errorf("%s: %v are left, %d lost", kind, left, l.Lost())
		}
	}
	if now, _ := machine.Affinity(); len(now) != len(cpus) {
		t.Errorf("this thread is left on %v", now)
	}
}

// Lost counts a competitor that another process kills.
func TestLost(t *testing.T) {
	l, err := load.Start(t.Context(), 2, load.Sleeping, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	p, _ := os.FindProcess(children(t, os.Getpid())[0])
	p.Kill()
	await(t, "the loss is not noticed", func() bool { return l.Lost() == 1 })
}

// Competitors end with the context, and with the process that started them, even if it is killed.
func TestEndOfTheStarter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := load.Start(ctx, 2, load.Registers, nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	await(t, "they outlive the context", func() bool { return len(children(t, os.Getpid())) == 0 })

	for _, kind := range []load.Kind{load.Registers, load.Building} {
		endOfAKilledStarter(t, kind)
	}
}

// Competitors that are paused can't read that their pipe has ended. They stayed forever.
func TestEndOfTheStarterInAPause(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a stopped process together with its parent")
	}
	for _, kind := range []load.Kind{load.Registers, load.Building} {
		endOfAKilledStarter(t, kind, pauses+"=1")
	}
}

// startStarter starts a process that has three competitors, and returns when they have begun.
func startStarter(t *testing.T, kind load.Kind, environment ...string) *exec.Cmd {
	t.Helper()
	program := exec.Command(os.Args[0])
	program.Env = append(append(os.Environ(), starter+"=1", kindOf+"="+string(kind)), environment...)
	output, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(output, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	return program
}

// endOfAKilledStarter kills a process that has three competitors, and waits until the competitors and all
// processes that they have started have ended.
func endOfAKilledStarter(t *testing.T, kind load.Kind, environment ...string) {
	t.Helper()
	program := startStarter(t, kind, environment...)
	competitors := children(t, program.Process.Pid)
	if len(competitors) != 3 {
		t.Errorf("%d competitors ran", len(competitors))
	}
	all := slices.Clone(competitors)
	if kind == load.Building && len(environment) == 0 { // a paused competitor may have none
		await(t, "no jobs", func() bool { return len(children(t, competitors[0])) > 0 })
	}
	for _, id := range competitors {
		all = append(all, children(t, id)...)
	}
	program.Process.Kill()
	program.Wait()
	await(t, "a competitor outlives its killed starter", func() bool {
		all = slices.DeleteFunc(all, gone)
		return len(all) == 0
	})
	for _, id := range all {
		if p, err := os.FindProcess(id); err == nil {
			p.Kill()
		}
	}
}

func TestRefuses(t *testing.T) {
	if _, err := load.Start(t.Context(), 1, "loud", nil); err == nil || !strings.Contains(err.Error(), "registers, memory, sleeping, bursty, waking, changing, forking, building") {
		t.Errorf("%v", err)
	}
	if _, err := load.Start(t.Context(), -1, load.Memory, nil); err == nil || !strings.Contains(err.Error(), "0 or more") {
		t.Errorf("%v", err)
	}
	var unbound *machine.AffinityError
	if _, err := load.Start(t.Context(), 1, load.Memory, []int{4000}); !errors.As(err, &unbound) && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := load.Start(ctx, 1, load.Memory, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	none, err := load.Start(t.Context(), 0, load.Memory, nil)
	if err != nil || none.Lost() != 0 {
		t.Errorf("%v", err)
	}
	none.Stop()
}

// Paused competitors and all processes that they have started stand still, and go on afterwards.
func TestPause(t *testing.T) {
	for _, kind := range []load.Kind{load.Registers, load.Building} {
		t.Run(string(kind), func(t *testing.T) { pausesAll(t, kind) })
	}
}

func pausesAll(t *testing.T, kind load.Kind) {
	l, err := load.Start(t.Context(), 2, kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	all := func(state string) func() bool {
		return func() bool {
			family := children(t, os.Getpid())
			for _, id := range slices.Clone(family) {
				family = append(family, children(t, id)...)
			}
			for _, id := range family {
				stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
				_, after, _ := strings.Cut(string(stat), ") ")
				// D is the state of a process that waits for its child between vfork and exec; the child
				// stands still too.
				stands := strings.HasPrefix(after, "T") || kind == load.Building && strings.HasPrefix(after, "D")
				if stands != (state == "stopped") {
					return false
				}
			}
			return true
		}
	}
	for _, c := range []struct {
		state string
		do    func() error
	}{{"stopped", l.Pause}, {"running", l.Resume}} {
		if err := c.do(); err != nil {
			t.Skip(err)
		}
		await(t, c.state, all(c.state))
	}
	if l.Lost() != 0 {
		t.Errorf("%d lost", l.Lost())
	}
}
