package process

import (
	"context"
	"os/exec"
	"testing"
)

// A run during which this process was stopped says so. The next one does not.
func TestStoppedMeanwhile(t *testing.T) {
	for _, c := range []struct {
		stop string
		want int
	}{{"sleep 0.05; kill -STOP $PPID; sleep 0.1; kill -CONT $PPID", 1}, {"exit 0", 0}} {
		stop := exec.Command("sh", "-c", c.stop)
		program := Command{Path: "sleep", Args: []string{"0.4"}, Started: func(int) { stop.Start() }}
		r, err := program.Run(context.Background())
		if stop.Wait(); err != nil || r.Continued != c.want {
			t.Errorf("%s: continued %d times, want %d; %v", c.stop, r.Continued, c.want, err)
		}
	}
}
