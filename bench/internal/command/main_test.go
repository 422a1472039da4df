package command

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"chronoscope/internal/load"
)

func TestMain(m *testing.M) {
	load.Serve()
	os.Exit(m.Run())
}

// A competitor that somebody kills is missed, those that are stopped are not, and the end of the experiment comes first.
func TestLost(t *testing.T) {
	competitors, err := load.Start(t.Context(), 1, load.Sleeping, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer competitors.Stop()
	if err := Lost(t.Context(), competitors); err != nil {
		t.Error(err)
	}
	own, err := exec.Command("pgrep", "-P", strconv.Itoa(os.Getpid()), "command.test").Output()
	if err != nil {
		t.Fatal(err) // .ci/needs installs pgrep
	}
	for _, pid := range strings.Fields(string(own)) {
		if err := exec.Command("kill", "-KILL", pid).Run(); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(10 * time.Second); Lost(t.Context(), competitors) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a killed competitor is not missed")
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Lost(ended, competitors); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// After the end of ctx nothing of a child's group is left: neither a program that waits for its own child, as go test does, nor a
// process that stays after its parent, as one of hyperfine may.
func TestChildEndsWithItsGroup(t *testing.T) {
	for name, script := range map[string]string{
		"waits":  "trap : INT; sh -c 'echo ready; exec sleep 20'; echo waited", // ready once there is a child to interrupt
		"leaves": "(trap '' INT; echo ready; exec sleep 20) & trap 'exit 3' INT; wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			c := Child(ctx, "sh", "-c", "echo ready; "+script)
			said, out := io.Pipe()
			c.Stdout = out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			done := make(chan error)
			go func() { done <- c.Wait() }() // it waits until nothing has the output any more
			lines := bufio.NewScanner(said)
			for range strings.Count(c.Args[2], "ready") {
				lines.Scan()
			}
			go io.Copy(io.Discard, said)
			cancel()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Error("processes are left")
			}
		})
	}
}
