package group

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// A process whose parent has ended starts a session of its own: it survived the program's end. The test
// ends when its last writer does.
func TestWhatHasLeftTheSessionAndItsParentEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := exec.Command("sh", "-c", "(sh -c 'sleep 0.1; exec setsid sleep 1000' &) ; echo begun; sleep 1000")
	c.Stdout = w
	Own(c)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	awaitOtherSession(t, markOf(c), c.Process.Pid)
	end := Hold(c)
	End(c)
	end()
	c.Wait()
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, r)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("it is still there")
	}
}

// awaitOtherSession waits until a process with the mark has left the session.
func awaitOtherSession(t *testing.T, mark string, session int) {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for _, pid := range processes() {
			if of := sessionOf(pid); hasMark(pid, mark) && of != 0 && of != session {
				return
			}
		}
	}
	t.Fatal("no process has left the session")
}
