package activity

import "fmt"

// Cause is the cause of a period of inactivity.
type Cause uint8

// These are the causes. Unexplained is the cause of a gap that fits none of the others.
const (
	Unexplained Cause = iota
	TimerTick
	Hypervisor
	Interrupt
	Preempted
	Throttled
	PageFault
	Migrated
	Runtime
	Stopped
	causes
)

var causeTexts = [causes]struct{ name, meaning string }{
	Unexplained: {"unexplained", "too short to be any of these, or not known"},
	TimerTick:   {"timer-tick", "this kernel's timer interrupt"},
	Hypervisor:  {"hypervisor", "the host, as no counter of this kernel knows"},
	Interrupt:   {"interrupt", "other interrupts of this kernel"},
	Preempted:   {"preempted", "another thread had the CPU"},
	Throttled:   {"throttled", "the control group's quota was used up"},
	PageFault:   {"page-fault", "the kernel served a page fault"},
	Migrated:    {"migrated", "the thread was moved to another CPU"},
	Runtime:     {"runtime", "this measurement itself"},
	Stopped:     {"stopped", "the process was stopped by a signal"},
}

func (c Cause) String() string {
	if c < causes {
		return causeTexts[c].name
	}
	return fmt.Sprintf("cause %d", uint8(c))
}

// Meaning describes the cause in words. It is empty for a number that stands for no cause.
func (c Cause) Meaning() string {
	if c < causes {
		return causeTexts[c].meaning
	}
	return ""
}

// LostCPU reports whether a gap with the cause means that the thread lost its CPU.
func (c Cause) LostCPU() bool {
	return c == Preempted || c == Throttled || c == Migrated || c == Stopped
}

// MarshalText writes the cause's name.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the name of a cause.
func (c *Cause) UnmarshalText(text []byte) error {
	for known := range causes {
		if known.String() == string(text) {
			*c = known
			return nil
		}
	}
	return fmt.Errorf("%.40q is no cause: one of %v is", text, Causes())
}

// Causes returns all causes, the most informative first.
func Causes() []Cause {
	return []Cause{TimerTick, Hypervisor, Interrupt, Preempted, Throttled, PageFault, Migrated, Stopped, Runtime, Unexplained}
}
