package clock

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// processorCounters are those of each processor architecture, the bare reading first.
var processorCounters = []struct {
	architecture string
	names        []string
}{
	{"amd64", []string{"tsc", "tsc-fenced", "tscp"}},
	{"arm64", []string{"cntvct", "cntvct-fenced"}},
}

// names holds every clock of the processors, of the kernel and of Go, on any platform.
var names = append(counterNames(),
	"go-time-now",
	"realtime", "realtime-coarse",
	"monotonic", "monotonic-raw", "monotonic-coarse",
	"boottime", "tai",
	"process-cputime", "thread-cputime",
	"monotonic-syscall",
	"gettimeofday", "time", "times", "clock",
	"getrusage-self", "getrusage-thread",
	"perf-task-clock", "perf-cycles", "perf-ref-cycles", "perf-instructions",
)

func counterNames() (all []string) {
	for _, c := range processorCounters {
		all = append(all, c.names...)
	}
	return all
}

// BareCounters lists the bare reading of the counter of each processor architecture: one of
// these clocks is there on each architecture that is known.
func BareCounters() (all []string) {
	for _, c := range processorCounters {
		all = append(all, c.names[0])
	}
	return all
}

// opener opens one clock. Its error is an *Unavailable, whose Name Open fills
// in.
type opener func() (*Clock, error)

// Names lists every clock that this package knows, in a fixed order that is
// the same on every platform. [Open] tells whether one can be read here.
func Names() []string { return slices.Clone(names) }

// Open opens the clock of that name. The error is an [*UnknownName] for a name
// that is not among [Names], and an [*Unavailable] for a clock that can't be
// read on this machine.
func Open(name string) (*Clock, error) {
	if !slices.Contains(names, name) {
		return nil, &UnknownName{Name: name, Known: Names()}
	}
	open, ok := openers(name)
	if !ok {
		return nil, elsewhere(name)
	}
	c, err := open()
	if err != nil {
		return nil, named(name, err)
	}
	c.Name, c.Runtime = name, "go"
	return c, nil
}

// List opens every clock that can be read here, and gives the reason for each
// of the others. Both lists are in the order of [Names]. The caller closes the
// clocks; those of perf count for the thread that calls List.
func List() ([]*Clock, []*Unavailable) {
	var clocks []*Clock
	var missing []*Unavailable
	for _, name := range names {
		c, err := Open(name)
		if err != nil {
			missing = append(missing, named(name, err))
			continue
		}
		clocks = append(clocks, c)
	}
	return clocks, missing
}

// openers finds who opens a clock: Go itself, the processor, or the system.
func openers(name string) (opener, bool) {
	if name == "go-time-now" {
		return openGoTime, true
	}
	for _, from := range []map[string]opener{counterClocks, systemClocks} {
		if open, ok := from[name]; ok {
			return open, true
		}
	}
	return nil, false
}

// elsewhere says where a clock exists that this platform does not have.
func elsewhere(name string) *Unavailable {
	for _, c := range processorCounters {
		if slices.Contains(c.names, name) && c.architecture != runtime.GOARCH {
			return &Unavailable{
				Name: name, Reason: OtherArchitecture,
				Detail: fmt.Sprintf("this is %s, the counter belongs to %s", runtime.GOARCH, c.architecture),
			}
		}
	}
	return &Unavailable{
		Name: name, Reason: OtherSystem,
		Detail: fmt.Sprintf("%s does not offer it, Linux does", runtime.GOOS),
	}
}

// named is the *Unavailable in err, with the name of the clock.
func named(name string, err error) *Unavailable {
	var u *Unavailable
	if !errors.As(err, &u) {
		u = &Unavailable{Reason: Refused, Detail: err.Error()}
	}
	withName := *u
	withName.Name = name
	return &withName
}
