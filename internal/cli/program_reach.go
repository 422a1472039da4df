package cli

import (
	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/validate"
)

// methodOf maps the names of schemes in validations to the methods of package program.
var methodOf = map[string]program.Method{validate.OwnProgram: program.CycleTime, validate.Getrusage: program.ByIntervalCounting}

// reachHere returns the reach of methods on this machine, from its last validation. If there is none, or it
// can't be read, it returns nothing, and the limits of the source apply.
func reachHere(m *machine.Machine) (all []program.Reach) {
	found, err := validate.LoadReach(m)
	if err != nil {
		return nil
	}
	for _, r := range found {
		if method, ok := methodOf[r.Scheme]; ok && r.Kind == validate.Compute && r.Endless() {
			all = append(all, program.Reach{Method: method, Load: r.Load, Tolerance: r.Tolerance, MinDurationNs: r.MinDurationNs.Value(), MaxDurationNs: r.MaxDurationNs.Value()})
		}
	}
	return all
}
