//go:build !linux

package machine

import "time"

// AskForTurns says that this system does not let threads ask.
func AskForTurns(time.Duration) (before time.Duration, err error) {
	return 0, &UnsupportedError{
		Operation: "asking for longer time slices",
		Reason:    "the system has no way to ask for them",
		Remedy:    "measure while few others want the CPU",
	}
}
