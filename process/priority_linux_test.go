package process

import (
	"runtime"
	"slices"

	"chronoscope/machine"

	"errors"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func niceness() int {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		panic(err)
	}
	return 20 - raw
}

// A program has the niceness that was asked for, and that of its parent where none was.
// Anyone may ask for 19; the way back is not for everyone.
func TestNice(t *testing.T) {
	usual := niceness()
	l := NewLauncher()
	defer l.Close()
	for _, nice := range []int{0, 19, 19, 0, -1} {
		for _, untraced := range []bool{true, false} {
			var printed strings.Builder
			c := program("niceness")
			c.Nice, c.Untraced, c.Stdout = nice, untraced, &printed
			want := nice
			if nice == 0 {
				want = usual
			}
			_, err := l.Run(background, c)
			var refused *PriorityError
			if errors.As(err, &refused) && nice != 19 && errors.Is(err, unix.EACCES) && strings.Contains(err.Error(), "ulimit") {
				if printed.Len() > 0 {
					t.Errorf("%v, and yet it ran", err)
				}
				continue
			}
			if got := printed.String(); err != nil || got != strconv.Itoa(want) {
				t.Errorf("niceness %d, untraced %v: it had %q, %v, want %d", nice, untraced, got, err, want)
			}
		}
	}
	if got := niceness(); got != usual {
		t.Errorf("this process has a niceness of %d, and had %d", got, usual)
	}
}

// The tracer waited for the CPU of the program at each of its stops, behind five loops: one traced run
// took as long as sixty others. It leaves that CPU where it has another one.
func TestStandAside(t *testing.T) {
	all, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	for _, programs := range [][]int{nil, all[:1], all} {
		var left []int
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // for good, so that the thread ends
			Command{CPUs: programs}.standAside()
			left, err = machine.Affinity()
		}()
		<-done
		want := len(all)
		if others := len(all) - len(programs); others > 0 {
			want = others
		}
		if err != nil || len(left) != want || want < len(all) && slices.ContainsFunc(left, func(cpu int) bool { return slices.Contains(programs, cpu) }) {
			t.Errorf("of %d, with the program on %d, the tracer has %d: %v", all, programs, left, err)
		}
	}
}

// A thread has another niceness while a function runs, and then its own again, where it has the right to that.
func TestAtNiceness(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	usual, there := niceness(), 0
	err := AtNiceness(-3, func() { there = niceness() })
	var denied *PriorityError
	if errors.As(err, &denied) && there == 0 && niceness() == usual {
		t.Skip(err)
	}
	if err != nil || there != -3 || niceness() != usual {
		t.Errorf("%v: %d, then %d; it was %d", err, there, niceness(), usual)
	}
}
