package view

import (
	"fmt"
	"strings"
	"testing"

	"chronoscope/activity"
)

// Where events are missing, a gap may be known as one in which another thread had the CPU, and not which: the row had no
// name, and the moment named the cause as if it were a thread.
func TestThreadThatNoEventNames(t *testing.T) {
	n := &activity.Named{
		Parts: []activity.NamedPart{{Cause: activity.Preempted}, {Cause: activity.Hypervisor}},
		Worst: []activity.Moment{{Cause: activity.Preempted, Ran: []activity.Piece{{DurationNs: 3e6, Cause: activity.Preempted}}}},
	}
	s := named(activity.Analysis{Named: n})
	if row := s.Table.Rows[0]; !strings.Contains(fmt.Sprint(row[1]), "not known, as events are missing") {
		t.Errorf("%v", row)
	}
	if notes := fmt.Sprint(s.Notes); !strings.Contains(notes, "not known, as events are missing 3.00 ms") {
		t.Error(notes)
	}
}
