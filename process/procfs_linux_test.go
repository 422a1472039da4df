package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// In a PID namespace that still has the /proc of the one around it, the numbers of this process and of its children are
// those of others there. What /proc tells of these does not enter a run.
func TestProcOfOtherNamespace(t *testing.T) {
	const child = "PROCESS_TEST_NAMESPACE"
	if os.Getenv(child) != "" {
		for _, untraced := range []bool{true, false} {
			r, err := Command{Path: "true", Untraced: untraced}.Run(t.Context())
			fmt.Printf("ran: %v, %d threads, %d bytes, %s, %v\n", err, len(r.Threads), r.MaxRSSBytes+r.AllRSSBytes, r.WaitOf, r.OtherLimit)
		}
		_, looked := Look(os.Getpid())
		_, others := OpenOthers()
		fmt.Printf("looked: %v\nothers: %v\n", looked, others)
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestProcOfOtherNamespace$")
	c.Env = append(os.Environ(), child+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	said, err := c.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if err != nil || strings.Count(string(said), "ran: <nil>, 0 threads, 0 bytes, none, false\n") != 2 {
		t.Errorf("%v: %s", err, said)
	}
	for _, what := range []string{"looked: looking at process 1: ", "others: "} {
		if !strings.Contains(string(said), what+"/proc is missing, or is that of another PID namespace") {
			t.Errorf("%s is not refused: %s", what, said)
		}
	}
}
