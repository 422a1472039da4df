package group

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// In a PID namespace that still has the /proc of the one around it, numbers in /proc are those of other processes: a
// signal by such a number would end one that has nothing to do with the program.
func TestNumbersOfOtherNamespace(t *testing.T) {
	const child = "GROUP_TEST_NAMESPACE"
	if parent, err := strconv.Atoi(os.Getenv(child)); err == nil {
		fmt.Printf("session %d, %d children\n", sessionOf(parent), len(children(parent)))
		os.Exit(0)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestNumbersOfOtherNamespace$")
	c.Env = append(os.Environ(), child+"="+strconv.Itoa(os.Getpid()))
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	said, err := c.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if err != nil || string(said) != "session 0, 0 children\n" {
		t.Errorf("%v: %s", err, said)
	}
}
