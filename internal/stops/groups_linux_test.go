package stops

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
)

// Ctrl-Z stops a program's process group for as long as this process, and counts as one stop.
func TestCtrlZStopsPrograms(t *testing.T) {
	PassOn()
	program := exec.Command("sh", "-c", "read line; sleep 60 & wait")
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Skip(err)
	}
	group := program.Process.Pid
	defer program.Wait()
	defer syscall.Kill(-group, syscall.SIGKILL)
	defer With(group)()
	fmt.Fprintln(in)
	stopped := Begin()
	awaits := func(state string) string {
		return fmt.Sprintf("for i in $(seq 100); do read -r pid name state rest < /proc/%d/stat; [ $state = %s ] && break; sleep 0.01; done; echo $state; ", group, state)
	}
	var said []byte
	// Without a shell that could continue it, this process is not stopped, and the group for a moment only.
	for tries := 0; tries < 5 && string(said) != "T\n"; tries++ {
		stopped = Begin()
		said, err = exec.Command("sh", "-c", "kill -TSTP $PPID; "+awaits("T")+"kill -CONT $PPID").Output()
	}
	if err != nil || string(said) != "T\n" {
		t.Errorf("%q, %v while this process was stopped, want T", said, err)
	}
	if said, err = exec.Command("sh", "-c", awaits("S")).Output(); err != nil || string(said) != "S\n" {
		t.Errorf("%q, %v afterwards, want S", said, err)
	}
	if n := stopped.Count(); n != 1 {
		t.Errorf("%d stops, want 1", n)
	}
}
