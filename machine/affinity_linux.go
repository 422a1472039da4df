package machine

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strconv"

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
	if err := schedSetaffinity(callingThread, cpus); err != nil {
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
func restoreAffinity(cpus []int) error { return schedSetaffinity(callingThread, cpus) }

// setProcessAffinity binds the threads that exist, until none is left that a thread which was not bound yet has started.
// A thread that a bound one starts is bound as well.
func setProcessAffinity(cpus []int) error {
	bound := map[string]bool{}
	for added := true; added; {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return bindingError(cpus, fmt.Errorf("listing this process's threads: %w", err), "mount it: mount -t proc proc /proc")
		}
		added = false
		for _, t := range threads {
			thread, err := strconv.Atoi(t.Name())
			if err != nil || bound[t.Name()] {
				continue
			}
			if err := schedSetaffinity(thread, cpus); err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
				return err
			}
			bound[t.Name()], added = true, true
		}
	}
	return nil
}

const cpusetRemedy = "name CPUs that are online and in this process's cpuset"

func schedSetaffinity(thread int, cpus []int) error {
	set := unix.NewCPUSet(maxCPU + 1)
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	err := unix.SchedSetaffinityDynamic(thread, set)
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
