package clock

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// processorCounters names the counters of each processor architecture, the unfenced reading
// first.
var processorCounters = []struct {
	architecture string
	names        []string
}{
	{"amd64", []string{"tsc", "tsc-fenced", "tscp"}},
	{"arm64", []string{"cntvct", "cntvct-fenced"}},
}

// names holds the names of all clocks: of the processors, of the kernels and of Go, on any
// platform.
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

// BareCounters returns the name of the unfenced counter of each known processor architecture.
// On such an architecture, exactly one of them exists.
func BareCounters() (all []string) {
	for _, c := range processorCounters {
		all = append(all, c.names[0])
	}
	return all
}

// opener opens one clock. Its error is an *Unavailable whose Name is empty; Open sets it.
type opener func() (*Clock, error)

// Names returns the name of every clock that this package knows, in an order that is the same on
// every platform. [Open] tells whether one of them can be read here.
func Names() []string { return slices.Clone(names) }

// Open opens the clock of that name. The error is an [*UnknownName] if the name is not in
// [Names], and an [*Unavailable] if the clock can't be read on this machine.
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

// List opens every clock that can be read here, and returns the reason why each of the others
// can't be. Both lists are in the order of [Names]. The caller closes the clocks. The perf
// clocks count for the thread that calls List.
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

// openers returns the opener of a clock, and false if this platform has no such clock.
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

// elsewhere returns the error for a clock that exists on other platforms only. It names them.
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

// named returns the *Unavailable in err with the clock's name set.
func named(name string, err error) *Unavailable {
	var u *Unavailable
	if !errors.As(err, &u) {
		u = &Unavailable{Reason: Refused, Detail: err.Error()}
	}
	withName := *u
	withName.Name = name
	return &withName
}
