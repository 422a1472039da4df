package slowclock

import (
	"fmt"
	"strings"
	"testing"
)

// A laboratory without an event or a clock ended in a nil pointer.
func TestIncompleteLab(t *testing.T) {
	for _, lab := range []Lab{{}, {Event: func() {}}} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, "a Lab needs an Event") {
					t.Error(said)
				}
			}()
			lab.Bernoulli(t.Context(), Plan{Trials: 10})
		}()
	}
}
