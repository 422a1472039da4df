package probe

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"chronoscope/clock"
)

// Hello is how a probe introduces itself.
type Hello struct {
	Protocol int `json:"protocol"`
	// Runtime names what reads the timers, such as "java"; Version is its version.
	Runtime string `json:"runtime"`
	Version string `json:"version"`
	// Warmup says what was done before hello was answered, for example to let a just-in-time compiler
	// finish. It may be empty.
	Warmup string        `json:"warmup"`
	Timers []Description `json:"timers"`
}

// Description is how a probe describes one of its timers.
type Description struct {
	// Name is the timer's name in commands.
	Name string     `json:"name"`
	Kind clock.Kind `json:"kind"`
	// UnitNs is the length of one unit of a reading, in nanoseconds.
	UnitNs float64 `json:"unit_ns"`
	// API is how the timer is read, in the words of its runtime. If it is missing, it is the name.
	API string `json:"api"`
	// Scope is which readings may be compared. If it is missing, it is the process for CPU time, and
	// the machine for any other time.
	Scope clock.Scope `json:"scope"`
	// Calendar and Settable have the same meaning as in [clock.Clock].
	Calendar bool `json:"calendar"`
	Settable bool `json:"settable"`
	// CountsSuspend says whether the timer goes on while the machine is suspended. If it is missing, that is unknown.
	CountsSuspend clock.Answer `json:"counts_suspend"`
}

// Limits of a hello.
const (
	protocolVersion = 1
	mostTimers      = 64
	longestName     = 64
	longestText     = 200
	leastUnitNs     = 1e-6
	mostUnitNs      = 1e12
	nobody          = "none" // means no timer in the command cost
)

// parseHello reads an answer to hello and sets what it leaves out. It returns an error if the answer is
// invalid.
func parseHello(answer string) (Hello, error) {
	var h Hello
	if err := json.Unmarshal([]byte(answer), &h); err != nil {
		return Hello{}, fmt.Errorf("it is no JSON object as the protocol has it: %w", err)
	}
	switch {
	case h.Protocol != protocolVersion:
		return Hello{}, fmt.Errorf("it speaks protocol %d, and this program speaks %d", h.Protocol, protocolVersion)
	case !isName(h.Runtime) || strings.Contains(h.Runtime, "/"):
		return Hello{}, fmt.Errorf("%q is no name of a runtime", h.Runtime)
	case !isText(h.Version) || !isText(h.Warmup):
		return Hello{}, fmt.Errorf("version and warmup are at most %d printable characters", longestText)
	case len(h.Timers) == 0:
		return Hello{}, fmt.Errorf("it offers no timers")
	case len(h.Timers) > mostTimers:
		return Hello{}, fmt.Errorf("it offers %d timers, and %d are the most", len(h.Timers), mostTimers)
	}
	seen := map[string]bool{nobody: true}
	for i := range h.Timers {
		if err := h.Timers[i].complete(); err != nil {
			return Hello{}, err
		}
		if name := h.Timers[i].Name; seen[name] {
			return Hello{}, fmt.Errorf("the name %q is taken", name)
		}
		seen[h.Timers[i].Name] = true
	}
	return h, nil
}

// complete sets what the description leaves out. It returns an error if the description is invalid.
func (d *Description) complete() error {
	if !isName(d.Name) {
		return fmt.Errorf("%q is no name of a timer: 1 to %d printable ASCII characters without blanks", d.Name, longestName)
	}
	switch d.Kind {
	case clock.KindWall, clock.KindCPU, clock.KindCounter:
	default:
		return fmt.Errorf("%s is of kind %q: use wall, cpu or counter", d.Name, d.Kind)
	}
	if math.IsNaN(d.UnitNs) || d.UnitNs < leastUnitNs || d.UnitNs > mostUnitNs {
		return fmt.Errorf("the unit of %s is %g ns: it has to lie between %g and %g", d.Name, d.UnitNs, leastUnitNs, mostUnitNs)
	}
	if d.API == "" {
		d.API = d.Name
	}
	if !isText(d.API) {
		return fmt.Errorf("the api of %s is at most %d printable characters", d.Name, longestText)
	}
	switch d.Scope {
	case "":
		d.Scope = clock.ScopeMachine
		if d.Kind == clock.KindCPU {
			d.Scope = clock.ScopeProcess
		}
	case clock.ScopeMachine, clock.ScopeProcess, clock.ScopeThread:
	default:
		return fmt.Errorf("the scope of %s is %q: use machine, process or thread", d.Name, d.Scope)
	}
	switch d.CountsSuspend {
	case "":
		d.CountsSuspend = clock.Unknown
	case clock.Yes, clock.No, clock.Unknown:
	default:
		return fmt.Errorf("counts_suspend of %s is %q: use yes, no or unknown", d.Name, d.CountsSuspend)
	}
	return nil
}

// isName reports whether s can be one word of a command.
func isName(s string) bool {
	outside := func(r rune) bool { return r <= ' ' || r > '~' }
	return s != "" && len(s) <= longestName && strings.IndexFunc(s, outside) < 0
}

// isText reports whether s is short enough and consists of characters that are safe to show.
func isText(s string) bool {
	hidden := func(r rune) bool { return !isShown(r) }
	return len(s) <= longestText && strings.IndexFunc(s, hidden) < 0
}
