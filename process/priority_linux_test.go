package process

import (
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
