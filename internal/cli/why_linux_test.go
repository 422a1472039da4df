package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A process that has ended, and whose parent has not asked for its status, waits for nothing. The recording of one waited for
// something that never came, and the advice was to record for longer.
func TestWhyOfAZombie(t *testing.T) {
	program := exec.Command("true")
	if err := program.Start(); err != nil {
		t.Skip(err)
	}
	defer program.Wait()
	pid := program.Process.Pid
	for range 1000 {
		if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(text), ") Z ") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, _, err := processTarget(pid)
	if want := fmt.Sprintf("its parent, pid %d, has not asked yet how it ended (a zombie)", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
