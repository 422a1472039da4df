package lateness_test

import (
	"os/exec"
	"testing"

	"chronoscope/lateness"
)

// A wake-up during which this process was stopped is left out, and so are the moments that passed meanwhile. Another one
// that is as late counts.
func TestWakeUpsThatAreStopped(t *testing.T) {
	timer := simulated("stopped", true, func(i int) (float64, int) {
		switch i {
		case 3:
			if err := exec.Command("sh", "-c", "kill -STOP $PPID; sleep 0.1; kill -CONT $PPID").Run(); err != nil {
				t.Skip(err)
			}
			return 1e8, 0
		case 4:
			return 0, 99
		case 7:
			return 2e8, 1
		case 9: // a timer that is read returns the last of the moments
			if err := exec.Command("sh", "-c", "kill -STOP $PPID; sleep 0.1; kill -CONT $PPID").Run(); err != nil {
				t.Skip(err)
			}
			return 1e5, 99
		}
		return 0, 0
	})
	report, err := lateness.Measure(t.Context(), plan(40), []lateness.Timer{timer})
	if err != nil {
		t.Fatal(err)
	}
	r := report.Timers[0] // of four rounds
	if r.Wakes != 40 || r.Discarded != 8 || r.Late.MaxNs.Value() != 2e8 || r.Missed != 4 {
		t.Errorf("%+v", r)
	}
}
