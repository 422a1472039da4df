package cli

import (
	"fmt"
	"math"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// outcome is the error that tells the exit status of a finished measurement.
func (t *programFlags) outcome(d record.Programs, set settings) error {
	verdicts := map[string]stats.Verdict{}
	var failed []record.Program
	for _, p := range d.Results {
		if before, twice := verdicts[p.Command]; !twice || p.Verdict.WorseThan(before) {
			verdicts[p.Command] = p.Verdict
		}
		if p.Failure != nil {
			failed = append(failed, p)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s%s: %s: see what it writes with --program-output inherit, or measure it all the same with --ignore-failure",
			ofSeveral(len(failed), len(d.Results)), failed[0].Command, *failed[0].Failure)
	}
	if err := t.regression(d.Pairs); err != nil {
		return err
	}
	return set.met(verdicts)
}

// ofSeveral says how many commands failed, where there is more than one.
func ofSeveral(failed, all int) string {
	if all == 1 {
		return ""
	}
	return fmt.Sprintf("%d of %d commands failed; ", failed, all)
}

// regression is the error where a command is slower than the first by more than is
// allowed, or where that can't be told: a gate that can't know doesn't open. It opens
// where even the worst end of the interval is allowed.
func (t *programFlags) regression(pairs []record.Pair) error {
	if math.IsNaN(t.mostRegression) {
		return nil
	}
	limit := 1 + t.mostRegression
	var undecided error
	for _, p := range pairs {
		switch {
		case p.Outcome == string(program.Slower) && p.Ratio.Value > limit:
			return &regressionError{fmt.Sprintf("%s takes %.4g times as long as %s (95 %% interval %.4g to %.4g): more than --max-regression %s allows",
				p.B, p.Ratio.Value, p.A, p.Ratio.Lo, p.Ratio.Hi, t.regressed)}
		case p.Outcome == string(program.Undecided) && !(p.Ratio.Hi <= limit) && undecided == nil:
			undecided = fmt.Errorf("--max-regression: whether %s is slower than %s can't be told: the interval of the ratio is %.4g to %.4g; measure longer with --max-time, or on a calmer machine",
				p.B, p.A, p.Ratio.Lo, p.Ratio.Hi)
		}
	}
	return undecided
}
