package process

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A process that computes beside, and one that came and went.
func TestOthers(t *testing.T) {
	o, err := OpenOthers()
	if err != nil {
		t.Skip(err)
	}
	orphan := exec.Command("sh", "-c", "(sleep 0.05; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done) >/dev/null & echo $!")
	pid, err := orphan.Output()
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err != nil {
			break
		}
	}
	if use := o.Look(0, nil); use.Known && use.CPUNs < 5e6 {
		t.Errorf("a process came and went: %+v", use)
	}
	o.Look(0, nil)
	c := shell("while :; do :; done")
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		c.Untraced, c.Nice = true, 0
		ctx, cancel := context.WithTimeout(background, 300*time.Millisecond)
		defer cancel()
		c.Run(ctx)
	}()
	time.Sleep(100 * time.Millisecond)
	use := o.Look(0, nil)
	if use.CPUNs < 1e6 {
		t.Errorf("a loop ran beside: %+v", use)
	}
	if _, known := o.processes[os.Getpid()]; known {
		t.Error("it takes itself for another")
	}
	<-stop
}

// Nobody knows of others where none can be seen.
func TestNoOthers(t *testing.T) {
	if use := (*Others)(nil).Look(0, nil); use.Known {
		t.Errorf("%+v", use)
	}
}

// A thread that a process has started since is none that came and went: what others ran was then unknown,
// as beside every program whose neighbour started a thread.
func TestStartedThreadIsNoProcessThatCameAndWent(t *testing.T) {
	if _, err := OpenOthers(); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		lastPID, threads int // as if they had been so at the last look, compared with now
		known            bool
	}{{0, 0, true}, {-3, -3, true}, {-3, -2, false}, {-3, 0, false}} {
		for try := 0; ; try++ { // others may come and go meanwhile
			o := &Others{processes: map[int]usage{}, tasks: unknownTasks, allNs: -1}
			o.Look(0, nil)
			o.tasks.lastPID += c.lastPID
			o.tasks.threads += c.threads
			use := o.Look(0, nil)
			if use.Known == c.known {
				break
			}
			if try == 200 {
				t.Errorf("%+v: %+v", c, use)
				break
			}
		}
	}
	if got := parseTasks("0.20 0.18 0.12 1/80 11206\n"); got != (tasks{11206, 80}) {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"", "0.20 0.18 0.12 80 11206", "0.20 0.18 0.12 1/x 11206", "1 2 3 1/2 -"} {
		if got := parseTasks(text); got != unknownTasks {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
