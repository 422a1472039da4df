package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Without the kernel's files of children it is not known whether a probe such as a shell has started the
// process that reads the timers.
func TestAlone(t *testing.T) {
	const missing = "-"
	for _, c := range []struct {
		children []string // of each thread
		says     string
	}{
		{[]string{""}, ""},
		{[]string{"", missing}, ""}, // a thread that has ended
		{[]string{"", "4711 "}, "has started other processes, and which"},
		{[]string{missing}, "whether the probe has started other processes is not known"},
	} {
		tasks := t.TempDir()
		for i, text := range c.children {
			thread := filepath.Join(tasks, string(rune('1'+i)))
			if err := os.Mkdir(thread, 0o700); err != nil {
				t.Fatal(err)
			}
			if text == missing {
				continue
			}
			if err := os.WriteFile(filepath.Join(thread, "children"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		threads, err := os.ReadDir(tasks)
		if err != nil {
			t.Fatal(err)
		}
		if err := alone(tasks, threads); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.children, err, c.says)
		}
	}
}

// What is left of a probe is looked for by the number of its session. So it is ended before the probe is
// reaped and another process can have that number.
func TestTheRestIsEndedBeforeTheProbeIsReaped(t *testing.T) {
	p, err := startWrong(t, "", patient)
	if err != nil {
		t.Fatal(err)
	}
	hold, ends := p.session.hold, 0
	p.session.hold = func(c *exec.Cmd) func() {
		end := hold(c)
		return func() {
			if ends++; c.ProcessState != nil {
				t.Error("the probe is reaped")
			}
			end()
		}
	}
	if p.Close(); ends != 2 || p.session.command.ProcessState == nil {
		t.Errorf("%d handles ended, the probe is %v", ends, p.session.command.ProcessState)
	}
}

// failingThreads makes the second thread of a program fail to start.
const failingThreads = `
#include <errno.h>
#include <pthread.h>
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *argument) {
	static int calls;
	return ++calls == 2 ? EAGAIN : __real_pthread_create(t, a, run, argument);
}`

// If the C probe can't start all threads, it ends those that it has started. They once took part in the
// next game, and a good clock seemed to step back.
func TestCProbeWithoutThreads(t *testing.T) {
	program := filepath.Join(t.TempDir(), "probe")
	compile := exec.Command("cc", "-pthread", "-Wl,--wrap=pthread_create", "-o", program, "runtimes/probe.c", "-x", "c", "-")
	compile.Stdin = strings.NewReader(failingThreads)
	if said, err := compile.CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, said)
	}
	p, err := Start(t.Context(), []string{program}, Limits{Hello: time.Minute, Answer: 10 * time.Second, Quit: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Timers[0].HandOver(t.Context(), 2, 10); err == nil || !strings.Contains(err.Error(), "threads can't be started") {
		t.Fatalf("%v, want that threads can't be started", err)
	}
	if _, threads, err := p.CPUTime(); threads != 1 || err != nil {
		t.Errorf("%d threads are left, %v", threads, err)
	}
	handed, err := p.Timers[0].HandOver(t.Context(), 2, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(handed); i += 2 {
		if want := int64(i / 2 % 2); handed[i] != want {
			t.Errorf("turn %d was taken by thread %d", i/2, handed[i])
		}
	}
}
