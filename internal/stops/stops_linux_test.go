package stops

import (
	"os"
	"os/exec"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Each stop is counted as soon as the process goes on, though the Go runtime tells of signals later. The read returns after
// the stop, and the runtime does not know of it. The shell waits for the stop: on a busy machine it takes a while, and a
// SIGCONT before it takes it back.
func TestEachStopIsCounted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	var read [16]byte
	for range 3 {
		c := exec.Command("sh", "-c", "kill -STOP $PPID; until grep -q '^State:.T' /proc/$PPID/status; do sleep 0.01; done; sleep 0.1; echo; kill -CONT $PPID $PPID")
		c.Stdout = w
		stops := Begin()
		if err := c.Start(); err != nil {
			t.Skip(err)
		}
		unix.RawSyscall(unix.SYS_READ, r.Fd(), uintptr(unsafe.Pointer(&read)), uintptr(len(read)))
		if n := stops.Count(); n != 1 {
			t.Errorf("%d stops, want 1", n)
		}
		c.Wait()
		if n := stops.Count(); n != 1 { // it got two signals
			t.Errorf("%d stops in the end, want 1", n)
		}
	}
	if n := Begin().Count(); n != 0 {
		t.Errorf("%d stops since now", n)
	}
}
