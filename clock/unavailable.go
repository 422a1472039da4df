package clock

import (
	"fmt"
	"strings"
)

// Reason says why a clock is unavailable.
type Reason string

// The reasons.
const (
	NoInstruction      Reason = "no-instruction"       // the CPU lacks the instruction
	DisabledForProcess Reason = "disabled-for-process" // disabled for this process, for example by prctl(PR_SET_TSC)
	Trapped            Reason = "trapped"              // the instruction ends in a signal
	PermissionDenied   Reason = "permission-denied"    // only other users or processes may read it
	NotSupportedHere   Reason = "not-supported-here"   // this machine, or virtual machine, lacks it
	OtherArchitecture  Reason = "other-architecture"   // exists on other processor architectures
	OtherSystem        Reason = "other-system"         // exists on other operating systems
	NoSystemCall       Reason = "no-system-call"       // this kernel or sandbox does not offer the call
	Refused            Reason = "refused"              // the system refused for a reason that Detail names
)

// Unavailable says that a clock can't be read here, why, and what the user can
// do. It is an error.
type Unavailable struct {
	Name   string // of the clock
	Reason Reason
	Detail string // what was tried and what the system answered
	Remedy string // what the user can do; empty if nothing helps
}

// Error returns the name, the reason, the detail and the remedy in one line.
func (u *Unavailable) Error() string {
	text := fmt.Sprintf("clock %s is unavailable (%s)", u.Name, u.Reason)
	if u.Detail != "" {
		text += ": " + u.Detail
	}
	if u.Remedy != "" {
		text += "; " + u.Remedy
	}
	return text
}

// UnknownName says that no clock has this name, on any machine. It is an error.
type UnknownName struct {
	Name  string
	Known []string // every valid name
}

// Error names the clocks that exist.
func (u *UnknownName) Error() string {
	return fmt.Sprintf("no clock is named %q; there are %s", u.Name, strings.Join(u.Known, ", "))
}
