package activity

import (
	"fmt"
	"slices"
)

// Cause is what a period of inactivity is put down to.
type Cause uint8

// The causes. Unexplained is what is left when none of the others fits.
const (
	Unexplained Cause = iota
	TimerTick         // this kernel's timer interrupt
	Hypervisor        // the host took the CPU, as no counter of this kernel knows
	Interrupt         // another interrupt of this kernel
	Preempted         // another thread had the CPU
	Throttled         // the control group's quota was used up
	PageFault         // the kernel served a page fault
	Migrated          // the thread was moved to another CPU
	Runtime           // the recording itself, or the Go runtime
	Stopped           // the process was stopped by a signal
	causes
)

var causeNames = [causes]string{
	Unexplained: "unexplained", TimerTick: "timer-tick", Hypervisor: "hypervisor",
	Interrupt: "interrupt", Preempted: "preempted", Throttled: "throttled",
	PageFault: "page-fault", Migrated: "migrated", Runtime: "runtime", Stopped: "stopped",
}

func (c Cause) String() string {
	if c < causes {
		return causeNames[c]
	}
	return fmt.Sprintf("cause %d", uint8(c))
}

// MarshalText writes the cause's name.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (c *Cause) UnmarshalText(text []byte) error {
	i := slices.Index(causeNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("%.40q is none of the causes %q", text, causeNames)
	}
	*c = Cause(i)
	return nil
}

// Causes lists all causes, those that say most first.
func Causes() []Cause {
	return []Cause{TimerTick, Hypervisor, Interrupt, Preempted, Throttled, PageFault, Migrated, Stopped, Runtime, Unexplained}
}
