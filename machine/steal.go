package machine

import (
	"fmt"
	"time"
)

// These are shares of stolen time. Above the first it is noted; above the second it spoils
// measurements.
const (
	notedSteal    = 0.01
	spoilingSteal = 0.05
)

// judgeSteal judges the time that the hypervisor gave to others while this system wanted to run.
// It is judged as a share of the time wanted, because idle time can't be stolen.
func judgeSteal(d *Doctor, before, after map[int]CPUTimes, window time.Duration) (*Finding, error) {
	boot, lately := sumOf(after, d.CPUs), sumOf(after, d.CPUs).Since(sumOf(before, d.CPUs))
	if boot.StolenNs == 0 && !d.Machine.virtual() {
		return nil, nil // no hypervisor can steal
	}
	seen := fmt.Sprintf("the host kept back %.2g %% of the CPU time wanted since the system started, and %.0f ms in the last %.0f ms (counted in steps of 10 ms)",
		100*boot.stolenShare(), lately.StolenNs/1e6, float64(window)/1e6)
	const (
		effect = "more runs on the host than it has CPUs for: wall time holds the turns of other guests, and no priority in this system helps"
		fix    = "measure when the host is quieter (vmstat 1 shows steal under st), or take an instance with CPUs of its own"
	)
	const oneTickNs = statTickNs // a single tick may come from rounding
	switch {
	case boot.stolenShare() >= spoilingSteal, lately.StolenNs > oneTickNs && lately.stolenShare() >= spoilingSteal:
		return spoiling(seen, effect, fix), nil
	case boot.stolenShare() >= notedSteal, lately.StolenNs > 0:
		return worthNoting(seen, effect, fix), nil
	}
	return fine(seen), nil
}

func sumOf(all map[int]CPUTimes, cpus []int) CPUTimes {
	var sum CPUTimes
	for _, cpu := range cpus {
		t := all[cpu]
		sum.UserNs, sum.SystemNs, sum.InterruptsNs = sum.UserNs+t.UserNs, sum.SystemNs+t.SystemNs, sum.InterruptsNs+t.InterruptsNs
		sum.IdleNs += t.IdleNs
		sum.StolenNs += t.StolenNs
	}
	return sum
}
