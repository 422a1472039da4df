package bytecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// The names of the launcher's threads in /proc: the threads that run main, and the first thread that
// main starts.
const launcherThread, countingThread = "java", "Thread-0"

// placeThreads binds the counting thread to one CPU and keeps the measuring thread off it. A scheduler
// may otherwise leave both on one CPU for a while, so that each sees the other's time slices. It ignores
// errors, because results are possible without it.
func placeThreads(process int, cpus []int) {
	if len(cpus) == 0 {
		cpus, _ = machine.Affinity()
	}
	if len(cpus) < 2 {
		return
	}
	last := len(cpus) - 1
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", process))
	for _, task := range tasks {
		name, err := os.ReadFile(filepath.Join(task, "comm"))
		thread, problem := strconv.Atoi(filepath.Base(task))
		if err != nil || problem != nil {
			continue
		}
		switch strings.TrimSpace(string(name)) {
		case launcherThread:
			keepOn(thread, cpus[:last])
		case countingThread:
			keepOn(thread, cpus[last:])
		}
	}
}

func keepOn(thread int, cpus []int) {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	_ = unix.SchedSetaffinity(thread, &set)
}
