package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
