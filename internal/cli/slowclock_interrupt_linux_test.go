package cli_test

import (
	"strings"
	"testing"
)

// If the command is interrupted during a method, it reports what was measured so far.
func TestInterruptedSlowClock(t *testing.T) {
	t.Parallel()
	for _, doing := range []string{"calibrating", "overhead"} {
		end := interrupt(t, doing, "slowclock", "--method", "discrete,classic", "--digits", "9", "--max-time", "10m", "--format", "json")
		if doing == "overhead" {
			if !strings.Contains(end.out.String(), `"method": "discrete"`) {
				t.Errorf("%s: no result so far:\n%s", doing, &end.out)
			}
		}
		checkInterrupted(t, end, everyClock())
	}
}
