package cli

import (
	"fmt"

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
	if err := gate(rivalsOf(d.Pairs), t.mostRegression, t.regressed); err != nil {
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
