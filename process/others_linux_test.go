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
