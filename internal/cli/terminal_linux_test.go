package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo-terminal (pty(7)): what a program writes to the terminal can be read
// from screen.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("unlocking a pseudo-terminal: %v", err)
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("asking for a pseudo-terminal's number: %v", err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return screen, terminal
}

// watch reads everything that is written to the screen, until the terminal has no more writers, and
// calls seen before and after each piece.
func watch(screen *os.File, seen func(soFar string)) string {
	var all strings.Builder
	piece := make([]byte, 4096)
	for {
		seen(all.String())
		n, err := screen.Read(piece)
		all.Write(piece[:n])
		if err != nil {
			return all.String() // EIO: the last writer has closed the terminal
		}
	}
}

// onTerminal runs the command with its standard error or output on a terminal.
func onTerminal(t *testing.T, connect func(c *exec.Cmd, terminal *os.File), args ...string) (written string) {
	t.Helper()
	screen, terminal := openTerminal(t)
	command := exec.Command(chronoscope, args...)
	connect(command, terminal)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	written = watch(screen, func(string) {})
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	return written
}

// rest returns what a line of a terminal finally shows, after text has returned to its start and
// overwritten it. An escape sequence is an error, since the bar needs none.
func rest(written string) (string, error) {
	var line []rune
	column := 0
	for _, r := range written {
		switch r {
		case '\r':
			column = 0
		case '\x1b', '\n':
			return "", errors.New("the bar leaves its line")
		default:
			if column == len(line) {
				line = append(line, ' ')
			}
			line[column] = r
			column++
		}
	}
	return strings.TrimRight(string(line), " "), nil
}

func TestRest(t *testing.T) {
	for written, want := range map[string]string{
		"":                  "",
		"abc":               "abc",
		"abc\rd":            "dbc",
		"abc\r   \r":        "",
		"abc\r  \rd":        "d c",
		"\r 50 %\r     \rx": "x",
	} {
		if got, err := rest(written); got != want || err != nil {
			t.Errorf("%q leaves %q, %v, want %q", written, got, err, want)
		}
	}
	for _, written := range []string{"a\nb", "\x1b[2K"} {
		if got, err := rest(written); err == nil {
			t.Errorf("%q leaves %q", written, got)
		}
	}
}

// The bar says what is being done, and is removed at the end.
func TestProgressOnATerminal(t *testing.T) {
	written := onTerminal(t, func(c *exec.Cmd, terminal *os.File) { c.Stderr = terminal },
		"clocks", "--quick", "monotonic", "go-time-now")
	for _, doing := range []string{"accuracy of monotonic", "accuracy of go-time-now", "%"} {
		if !strings.Contains(written, doing) {
			t.Errorf("the bar does not show %q: %q", doing, written)
		}
	}
	if left, err := rest(written); left != "" || err != nil {
		t.Errorf("the bar leaves %q behind, %v", left, err)
	}
}

func TestColorOnATerminal(t *testing.T) {
	const escape = "\x1b["
	for name, c := range map[string]struct {
		environment []string
		want        bool
	}{
		"a terminal":          {[]string{"TERM=xterm", "NO_COLOR="}, true},
		"NO_COLOR":            {[]string{"TERM=xterm", "NO_COLOR=1"}, false},
		"a terminal without":  {[]string{"TERM=dumb", "NO_COLOR="}, false},
		"NO_COLOR and a dumb": {[]string{"TERM=dumb", "NO_COLOR=1"}, false},
	} {
		written := onTerminal(t, func(command *exec.Cmd, terminal *os.File) {
			command.Stdout, command.Env = terminal, append(os.Environ(), c.environment...)
		}, "clocks", "--quick", "monotonic")
		if got := strings.Contains(written, escape); got != c.want {
			t.Errorf("%s: colours %v, want %v: %q", name, got, c.want, written)
		}
		if !strings.Contains(written, "monotonic") {
			t.Errorf("%s: no ranking in %q", name, written)
		}
	}
}
