package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

const (
	// mostProbedCores is the largest number of CPUs whose cores are probed, each for probedCoreFor.
	mostProbedCores = 4
	probedCoreFor   = 100 * time.Millisecond
	// hardlyShared is a share of the time for which something else may use a core and spoil little, and oftenShared one from
	// which on it spoils measurements.
	hardlyShared, oftenShared = 0.02, 0.2
)

// probedCore is what [env.ProbeCore] saw of a CPU.
type probedCore struct {
	cpu            int
	shared, slowed float64
}

// withSharedCores adds the finding whether something else uses the cores of the CPUs. If they can't be probed, it adds a
// caveat instead.
func (c *call) withSharedCores(ctx context.Context, cpus []int, findings []machine.Finding) []machine.Finding {
	if len(cpus) == 0 || cpus[0] < 0 { // this system does not say which CPUs there are
		return findings
	}
	cores, err := probeCores(ctx, cpus[:min(len(cpus), mostProbedCores)])
	if err != nil {
		c.caveat("shared-core: whether something else uses the cores is not known: %v", err)
	}
	if len(cores) == 0 {
		return findings
	}
	return machine.WorstFirst(append(findings, sharedCoresFinding(cores)))
}

func probeCores(ctx context.Context, cpus []int) (cores []probedCore, err error) {
	counter, err := env.Open(ctx, probedCoreFor/5, env.Clocks()...)
	if err != nil {
		return nil, err
	}
	defer counter.Close()
	for _, cpu := range cpus {
		release, err := env.Thread(cpu)
		if err != nil {
			return cores, err
		}
		core := probedCore{cpu: cpu}
		core.shared, core.slowed, err = env.ProbeCore(ctx, counter, probedCoreFor)
		release()
		if err != nil {
			return cores, err
		}
		cores = append(cores, core)
	}
	return cores, nil
}

// sharedCoresFinding says what the probes of some cores saw.
func sharedCoresFinding(cores []probedCore) machine.Finding {
	var seen []string
	worst := 0.0
	for _, core := range cores {
		if worst = max(worst, core.shared); core.shared > hardlyShared {
			seen = append(seen, fmt.Sprintf("in %s of the looks something else used the core of CPU %d, and independent instructions took %s longer", stats.Share(core.shared), core.cpu, stats.Share(core.slowed)))
		}
	}
	const topic = "shared-core"
	if len(seen) == 0 {
		return machine.Finding{Topic: topic, Severity: machine.OK, Seen: "nothing else uses the cores"}
	}
	severity := machine.Note
	if worst > oftenShared {
		severity = machine.Warning
	}
	return machine.Finding{
		Topic: topic, Severity: severity, Seen: strings.Join(seen, "; "),
		Effect: "a busy hyperthread, perhaps of another virtual machine, slows what runs here, and no counter of waiting time shows it: intervals are wide, and many verdicts suspect",
		Fix:    "measure at another time, or on a host or core of your own",
	}
}
