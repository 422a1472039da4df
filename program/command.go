package program

import (
	"time"

	"chronoscope/process"
)

// Command is a program to be measured.
type Command struct {
	process.Command
	// Name is how it is shown, and Line what it is, where that is something else.
	Name, Line string
	// Parameters are what was put into the command, by name.
	Parameters map[string]string
	// Prepare runs before each run and Conclude after it, where they are not nil. They
	// are not timed.
	Prepare, Conclude *process.Command
	// Metrics are what is to be known of its runs besides their time.
	Metrics []Metric
	// Timeout ends a run that takes longer, with all of its process group; 0 never does.
	Timeout time.Duration

	// noteWakeups records tracepoints while the command runs, if that is allowed, and noteTimedCalls
	// those of system calls that wait until some time, too.
	noteWakeups, noteTimedCalls bool
	// spentNs is how long its runs took so far.
	spentNs float64
}
