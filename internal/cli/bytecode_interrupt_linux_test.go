package cli_test

import (
	"os/exec"
	"strings"
	"testing"
)

// If the command is interrupted, it reports what was measured so far and keeps it; the next call
// continues from there.
func TestInterruptedBytecode(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("there is no Java here")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, goesOn := range []bool{false, true} {
		end := interrupt(t, "iadd, ", "bytecode", "--instructions", "iadd", "--time", "10m", "--format", "json")
		if end.status.ExitStatus() != 130 || !strings.Contains(end.out.String(), `"interrupted": true`) {
			t.Errorf("exit status %d, want 130, with\n%s", end.status.ExitStatus(), &end.out)
		}
		for _, breach := range breaches(end.out.Bytes(), expectation{}) {
			t.Error(breach)
		}
		if !strings.Contains(end.out.String(), "start again to go on") {
			t.Errorf("nothing was kept:\n%s", &end.out)
		}
		if went := strings.Contains(end.out.String(), "this one went on with it"); went != goesOn {
			t.Errorf("it went on: %v, want %v", went, goesOn)
		}
	}
}
