package fidelity

import (
	"fmt"
	"strings"

	"chronoscope/clock"
)

// Unavailable says that a workload can't be run here, why, and what the user can
// do. It is an error.
type Unavailable struct {
	Workload string
	Reason   clock.Reason
	Detail   string // what was tried and what the system answered
	Remedy   string // what the user can do; empty if nothing helps
}

func (u *Unavailable) Error() string {
	text := fmt.Sprintf("workload %s is unavailable (%s): %s", u.Workload, u.Reason, u.Detail)
	if u.Remedy != "" {
		text += "; " + u.Remedy
	}
	return text
}

// UnknownWorkload says that there is no workload with that name. It is an error.
type UnknownWorkload struct {
	Name  string
	Known []string // every valid name
}

func (u *UnknownWorkload) Error() string {
	return fmt.Sprintf("no workload is called %q: use one of %s", u.Name, strings.Join(u.Known, ", "))
}
