package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test program also serves as the probes. The environment variable says what a probe does wrong.
const behaviour = "CHRONOSCOPE_TEST_PROBE"

func TestMain(m *testing.M) {
	if wrong, ok := os.LookupEnv(behaviour); ok {
		misbehave(wrong)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ownGroup makes a child start in a process group of its own, in the session of its parent. It does
// nothing on a system without process groups.
var ownGroup = func(*exec.Cmd) {}

// misbehave is a probe with a timer a that works and a timer b that does something wrong.
func misbehave(wrong string) {
	if wrong == "no hello" {
		time.Sleep(time.Minute)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch {
		case words[0] == "hello":
			if wrong == "child in a group of its own" || wrong == "ends before its child" {
				c := exec.Command("sleep", "600")
				ownGroup(c)
				if err := c.Start(); err == nil {
					os.WriteFile(os.Getenv("CHRONOSCOPE_TEST_FILE"), fmt.Append(nil, c.Process.Pid), 0o600)
				}
			}
			fmt.Println(goodHello)
		case words[0] == "quit" && wrong == "ignores quit":
			time.Sleep(time.Minute)
		case words[0] == "quit":
			return
		case len(words) == 3 && words[0] == "reads" && (words[1] == "a" || wrong == "" || wrong == "child in a group of its own" || wrong == "hangs" || wrong == "ignores quit"):
			fmt.Println(strings.TrimSuffix(strings.Repeat("1 2 ", 32), " "))
		case words[0] == "sandwich" && wrong == "":
			ms, _ := strconv.Atoi(words[4])
			time.Sleep(time.Duration(ms) * time.Millisecond)
			fmt.Println("1,2")
		case words[0] == "reads" && wrong != "hangs":
			answerWrongly(wrong)
		case wrong == "hangs":
			time.Sleep(time.Minute)
		default:
			fmt.Println("unsupported")
		}
	}
}

func answerWrongly(wrong string) {
	switch wrong {
	case "rubbish":
		fmt.Println("\x1b[31mhe llo\x07")
	case "empty":
		fmt.Println()
	case "too few":
		fmt.Println("1 2 3")
	case "too many":
		fmt.Println(strings.Repeat("1 ", 65))
	case "no numbers":
		fmt.Println(strings.Repeat("NaN ", 64))
	case "out of range":
		fmt.Println(strings.Repeat("-9e18 9e18 ", 32))
	case "refuses":
		fmt.Println("error the timer is on holiday")
	case "gigabytes":
		piece := strings.Repeat("1 ", 1<<15)
		for {
			if _, err := fmt.Print(piece); err != nil {
				os.Exit(1)
			}
		}
	case "half a line":
		fmt.Print("1 2 3")
		time.Sleep(time.Minute)
	case "silent":
		time.Sleep(time.Minute)
	case "dies":
		fmt.Fprintln(os.Stderr, "first line\nthe timer caught fire")
		os.Exit(3)
	case "ends before its child":
		os.Exit(0)
	case "dies in a line":
		fmt.Print("1 2 3")
		os.Exit(0)
	case "two lines":
		fmt.Print(strings.TrimSuffix(strings.Repeat("1 2 ", 32), " ") + "\nand another thing\n")
	case "another line":
		fmt.Println(strings.TrimSuffix(strings.Repeat("1 2 ", 32), " "))
		fmt.Println()
		os.WriteFile(os.Getenv("CHRONOSCOPE_TEST_FILE"), nil, 0o600)
	case "leaves a child":
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), behaviour+"=no hello")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err == nil {
			os.WriteFile(os.Getenv("CHRONOSCOPE_TEST_FILE"), fmt.Append(nil, c.Process.Pid), 0o600)
		}
		os.Exit(0)
	}
}

// patient limits end no wait for an answer that will come, however busy the machine is. short limits are
// for answers that never come.
var patient = Limits{Hello: time.Minute, Answer: time.Minute, Quit: 5 * time.Second}

var short = Limits{Hello: 20 * time.Second, Answer: 700 * time.Millisecond, Quit: 300 * time.Millisecond}

// startWrong starts a probe that does something wrong. On a busy machine the wait for its working timer
// may also end too early; startWrong then starts the probe again with a longer limit.
func startWrong(t *testing.T, wrong string, limits Limits) (*Probe, error) {
	t.Setenv(behaviour, wrong)
	for ; ; limits.Answer *= 4 {
		p, err := Start(t.Context(), []string{os.Args[0]}, limits)
		if err != nil || p.Silent["a"] == nil || limits.Answer >= time.Minute {
			return p, err
		}
		p.Close()
	}
}

// A probe that is asked to sleep has the time of an answer beyond the sleep. A sleep of 10 s ended the probe.
func TestLongSleeps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	limits := patient
	limits.Answer = 2 * time.Second
	p, err := startWrong(t, "", limits)
	if err != nil || len(p.Timers) == 0 {
		t.Fatalf("%+v %v", p, err)
	}
	defer p.Close()
	sleep := p.session.limits.Answer + 500*time.Millisecond
	if _, err := p.Timers[0].Sandwiches(t.Context(), p.Timers[0].Name, "sleep", int(sleep.Milliseconds()), 1); err != nil {
		t.Error(err)
	}
}

// Whatever a probe does wrong with one timer, the error names the probe, the command and what is wrong.
// The other timer can be used as long as the session can go on.
func TestWrongProbes(t *testing.T) {
	for wrong, c := range map[string]struct {
		says string
		over bool
	}{
		"rubbish":        {`it answered "?[31mhe llo?": it has 2 values instead of 64`, false},
		"empty":          {"it has 0 values instead of 64", false},
		"too few":        {`it answered "1 2 3": it has 3 values instead of 64`, false},
		"too many":       {"it has 65 values instead of 64", false},
		"no numbers":     {`"NaN" is no decimal number`, false},
		"out of range":   {"is no decimal number within range", false},
		"refuses":        {"it could not: the timer is on holiday", false},
		"gigabytes":      {"the answer is longer than the", true},
		"half a line":    {"it was given up on after LIMIT without a whole line", true},
		"silent":         {"it was given up on after LIMIT without a whole line", true},
		"dies":           {`exit status 3); its standard error ends with "the timer caught fire"`, true},
		"dies in a line": {"it ended before it had answered", true},
		"two lines":      {`it answered "and another thing": it said that before it was asked`, true},
	} {
		t.Run(wrong, func(t *testing.T) {
			limits := patient
			if strings.Contains(c.says, "given up on") {
				limits = short
			}
			p, err := startWrong(t, wrong, limits)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			says := strings.ReplaceAll(c.says, "LIMIT", p.session.limits.Answer.String())
			err = p.Silent["b"]
			if wrong == "two lines" {
				_, err = p.Timers[0].Reads(t.Context(), 64)
			}
			var e *Error
			if !errors.As(err, &e) || e.Over != c.over || !strings.Contains(err.Error(), says) {
				t.Fatalf("%v, want one that says %q", err, says)
			}
			if !strings.Contains(err.Error(), filepath.Base(os.Args[0])) || !strings.Contains(err.Error(), "reads ") {
				t.Errorf("%v names neither the probe nor the command", err)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if _, again := p.Timers[0].Reads(t.Context(), 64); (again != nil) != c.over {
				t.Errorf("afterwards, the other timer: %v", again)
			}
		})
	}
}

// A superfluous line is noticed before the next question, even if it arrives after its answer was read.
// Otherwise each answer would be mistaken for the answer to the next question.
func TestLineTooMany(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system can't tell what a pipe holds")
	}
	file := filepath.Join(t.TempDir(), "written")
	t.Setenv("CHRONOSCOPE_TEST_FILE", file)
	p, err := startWrong(t, "another line", patient)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Silent["b"] != nil {
		t.Fatal(p.Silent["b"])
	}
	for _, err := os.Stat(file); err != nil; _, err = os.Stat(file) {
		time.Sleep(time.Millisecond)
	}
	var e *Error
	if _, err := p.Timers[0].Reads(t.Context(), 64); !errors.As(err, &e) || !e.Over || !strings.Contains(err.Error(), "before it was asked") {
		t.Errorf("%v, want that there was a line too many", err)
	}
}

func TestProbesThatDoNotStart(t *testing.T) {
	if _, err := startWrong(t, "no hello", Limits{Hello: 300 * time.Millisecond, Answer: time.Second, Quit: time.Second}); err == nil || !strings.Contains(err.Error(), `asked "hello"`) {
		t.Errorf("no hello: %v", err)
	}
	if _, err := Start(t.Context(), []string{filepath.Join(t.TempDir(), "nothing")}, short); err == nil {
		t.Error("a program that is not there was started")
	}
	if _, err := Start(t.Context(), nil, short); err == nil {
		t.Error("nothing was started")
	}
}

func TestQuitIgnored(t *testing.T) {
	p, err := startWrong(t, "ignores quit", Limits{Hello: time.Minute, Answer: time.Minute, Quit: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	p.Close() // if this hangs, the test has failed
	if p.session.command.ProcessState == nil {
		t.Error("the probe was not reaped")
	}
	if _, err := p.Timers[0].Reads(t.Context(), 64); err == nil {
		t.Error("it answers after its end")
	}
	p.Close()
}

// An interrupt ends both the wait for an answer and the probe.
func TestInterruptedProbe(t *testing.T) {
	p, err := startWrong(t, "hangs", patient)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Timers[0].HandOver(ctx, 2, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want that the time was over", err)
	}
	var e *Error
	if _, err := p.Timers[0].Reads(t.Context(), 64); !errors.As(err, &e) || !e.Over {
		t.Errorf("afterwards: %v, want that nothing more can be asked", err)
	}
}

// Questions with numbers beyond the limits are not sent.
func TestBoundsOfQuestions(t *testing.T) {
	p, err := startWrong(t, "", patient)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, n := range []int{0, -1, mostValues + 1} {
		if _, err := p.Timers[0].Reads(t.Context(), n); err == nil {
			t.Errorf("%d values are asked for", n)
		}
	}
	if _, err := p.Timers[0].Durations(t.Context(), "sundial", 1, 1); err == nil {
		t.Error("a reference that is not there times calls")
	}
	if _, err := p.Timers[0].HandOver(t.Context(), 2, 2); err == nil || !strings.Contains(err.Error(), "asked \"threads ") || !strings.Contains(err.Error(), "does not support it") {
		t.Errorf("threads: %v, want that it is unsupported, and what was asked", err)
	}
}
