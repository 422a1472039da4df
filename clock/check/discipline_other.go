//go:build !linux

package check

import (
	"chronoscope/machine"
)

func readDiscipline() (discipline, error) {
	return discipline{}, &machine.UnsupportedError{
		Operation: "asking how the system disciplines its clocks",
		Reason:    "adjtimex is known on Linux only",
		Remedy:    "stop the time daemon while the rates are checked",
	}
}
