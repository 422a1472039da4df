package command

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
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
		t.Skip(err) // no pgrep
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
