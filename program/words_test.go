package program

import (
	"errors"
	"strings"
	"testing"

	"chronoscope/process"
	"chronoscope/stats"
)

// An explanation says what others took. It once read "it runs for 102 ms, and others took
// 0.0078 % ...: cycle-grade time" and "neither CPU time nor the clock tells its time, only
// bounds do".
func TestExplanationsSayWhatOthersTook(t *testing.T) {
	wake := func(times int, keptNs int64) []Run {
		var runs []Run
		for range 10 {
			runs = append(runs, alternating(times, keptNs, 0))
		}
		return runs
	}
	for want, runs := range map[string][]Run{
		"nothing disturbed it (0 % lost to other programs)":        wake(1, 0),
		"other programs delayed it by an unknown amount, between ": wake(10, 5*ms),
	} {
		if got := concluded(0, runs...).Explanation; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What narrows an interval follows from what ended the runs: "run -- true" stopped at
// MaxRuns, and advised more MaxTime.
func TestAdviceNamesTheLimitThatEndedTheRuns(t *testing.T) {
	runs := make([]*Run, 10)
	for limit, want := range map[int]string{10: "MaxRuns", 1000: "MaxTime"} {
		c := conclusion{Result: &Result{Judgement: stats.NewJudgement(), Noise: quiet.Noise}, plan: Plan{Precision: 0.01, MaxRuns: limit}, used: runs}
		if got := c.narrower(); !strings.Contains(got, want) {
			t.Errorf("%d runs of at most %d: %q, want %s", len(runs), limit, got, want)
		}
	}
}

// A command without a program is refused before anything runs.
func TestCommandWithoutPath(t *testing.T) {
	commands := []Command{{Name: "a", Command: process.Command{Path: "true"}}, {Name: "b"}}
	_, err := Measure(background, commands, QuickPlan, quiet, nil)
	if err == nil || !strings.Contains(err.Error(), `command 2 of 2 (Name "b") has no Path`) {
		t.Error(err)
	}
}

// A command, or its preparation, that could not be started has no output, and its error says what would help.
func TestUnstartedHasNoOutput(t *testing.T) {
	nothing := process.Command{Path: "./no-such-program"}
	_, start := nothing.Run(background)
	for _, c := range []struct {
		err              error
		outputs, ignored bool
	}{
		{&FailedError{Name: "x", What: TheCommand, Err: errors.New("exit status 1")}, true, true},
		{&FailedError{Name: "x", What: "its preparation", Err: errors.New("exit status 1")}, true, false},
		{&FailedError{Name: "x", What: "its preparation", Err: start}, false, false},
	} {
		if got := c.err.Error(); strings.Contains(got, "look at its output") != c.outputs || strings.Contains(got, "IgnoreFailure") != c.ignored {
			t.Error(got)
		}
	}
	results, err := Measure(background, []Command{{Name: "x", Command: nothing}}, QuickPlan, quiet, nil)
	if err != nil || len(results) != 1 || len(results[0].Reasons) != 1 || results[0].Reasons[0] != "it failed: "+start.Error() {
		t.Errorf("%v, %+v, want %q", err, results, start)
	}
}

func TestFailedCommandIsNamedOnce(t *testing.T) {
	got := (&FailedError{Name: "false", What: TheCommand, Err: errors.New("exit status 1")}).Error()
	if !strings.HasPrefix(got, "false failed: exit status 1: ") {
		t.Error(got)
	}
}
