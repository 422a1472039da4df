package machine

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"golang.org/x/sys/unix"
)

// callingThread is the thread ID by which sched_setaffinity(2) means the calling thread.
const callingThread = 0

const seccompRemedy = "a container's seccomp profile has to allow sched_getaffinity and sched_setaffinity"

func affinity() ([]int, error) {
	set := unix.NewCPUSet(maxCPU + 1)
	if err := unix.SchedGetaffinityDynamic(callingThread, set); err != nil {
		return nil, &AffinityError{
			Operation: "asking for the CPUs of this thread",
			Err:       fmt.Errorf("sched_getaffinity: %w", err),
			Remedy:    seccompRemedy,
		}
	}
	var cpus []int
	for i, word := range set { // nearly all are 0
		for ; word != 0; word &= word - 1 {
			cpus = append(cpus, i*bits.UintSize+bits.TrailingZeros(uint(word)))
		}
	}
	return cpus, nil
}

func setAffinity(cpus []int) error {
	before, err := affinity()
	if err != nil {
		return err
	}
	if err := schedSetaffinity(cpus); err != nil {
		return err
	}
	after, err := affinity()
	if err != nil {
		return err
	}
	if missing := without(cpus, after); len(missing) > 0 {
		err := fmt.Errorf("the kernel left out CPU %s", FormatCPUList(missing))
		return errors.Join(bindingError(cpus, err, cpusetRemedy), restoreAffinity(before))
	}
	return nil
}

// restoreAffinity gives a thread back the CPUs it had. It is no error if some of them have gone
// offline meanwhile.
func restoreAffinity(cpus []int) error { return schedSetaffinity(cpus) }

const cpusetRemedy = "name CPUs that are online and in this process's cpuset"

func schedSetaffinity(cpus []int) error {
	set := unix.NewCPUSet(maxCPU + 1)
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	err := unix.SchedSetaffinityDynamic(callingThread, set)
	if err == nil {
		return nil
	}
	remedy := seccompRemedy
	if errors.Is(err, unix.EINVAL) {
		remedy = cpusetRemedy
	}
	return bindingError(cpus, fmt.Errorf("sched_setaffinity: %w", err), remedy)
}

func without(cpus, others []int) []int {
	return slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return slices.Contains(others, cpu) })
}
