package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// In a time namespace, when a thread was read and how long the next program was delayed are by the clock of the events. An
// earlier version added the namespace's shift of an hour. Half of it is allowed for.
func TestTimeNamespace(t *testing.T) {
	const child, offNs = "PROCESS_TEST_TIME", 1800e9
	if os.Getenv(child) == "" {
		namespace := []string{"-fT", "--monotonic", "3600", "--boottime", "3600"}
		if said, err := exec.Command("unshare", append(namespace, "true")...).CombinedOutput(); err != nil {
			t.Skipf("no time namespace: %v: %s", err, said)
		}
		c := exec.Command("unshare", append(namespace, os.Args[0], "-test.v", "-test.run=^TestTimeNamespace$")...)
		c.Env = append(os.Environ(), child+"=1")
		switch said, err := c.CombinedOutput(); {
		case err != nil:
			t.Errorf("%v: %s", err, said)
		case strings.Contains(string(said), "--- SKIP"):
			t.Skipf("%s", said)
		}
		return
	}
	l := NewLauncher()
	defer l.Close()
	c := shell("exit 3")
	c.Events, c.Untraced = true, true
	for range 3 {
		r, err := l.Run(background, c)
		r = mustWatch(t, r, err)
		if r.WallNs > offNs || r.StartWaitNs > offNs {
			t.Errorf("it took %d ns, and was delayed by %d ns", r.WallNs, r.StartWaitNs)
		}
		for _, thread := range r.Threads {
			if thread.ReadNs < 0 || thread.ReadNs > offNs {
				t.Errorf("a thread was read after %d ns", thread.ReadNs)
			}
		}
	}
}
