package process

import (
	"context"
	"os"
	"testing"
	"time"
)

// A process that computes beside, and one that came and went.
func TestOthers(t *testing.T) {
	o, err := OpenOthers()
	if err != nil {
		t.Skip(err)
	}
	spins := program("spins") // 20 ms
	if _, err := spins.Run(background); err != nil {
		t.Fatal(err)
	}
	if use := o.Look(0, nil); use.Known {
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
