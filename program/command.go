package program

import (
	"time"

	"chronoscope/process"
)

// Command is a program to be measured.
type Command struct {
	process.Command
	// Name is what the command is called in results. Line is its command line, if it differs from Name.
	Name, Line string
	// Parameters are the values that were put into the command, by name.
	Parameters map[string]string
	// Prepare runs before each run and Conclude after it, unless they are nil. They are not timed.
	Prepare, Conclude *process.Command
	// Metrics are the figures of its runs that are wanted besides their time.
	Metrics []Metric
	// Timeout is the time after which a run and its process group are killed; 0 is no limit.
	Timeout time.Duration

	// noteWakeups records tracepoints while the command runs, if that is allowed. noteTimedCalls also records
	// the system calls that wait until some time.
	noteWakeups, noteTimedCalls bool
	// spentNs is the time that the command's runs took so far.
	spentNs float64
	// lastNs is the wall time of the command's last run; 0 before the first one.
	lastNs int64
}

// within returns the command with a time-out of at most d, if d is above 0.
func (c Command) within(d time.Duration) Command {
	if d > 0 && (c.Timeout == 0 || d < c.Timeout) {
		c.Timeout = d
	}
	return c
}
