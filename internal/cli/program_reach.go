package cli

import (
	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/validate"
)

// methodOf is the method of package program that a scheme stands for.
var methodOf = map[string]program.Method{validate.OwnProgram: program.CycleTime, validate.Getrusage: program.ByIntervalCounting}

// reachHere is how far methods reach on this machine, as the last validation has left it.
// Without one, or where it can't be read, there is none, and the source's own limits hold.
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
