package bytecode

import (
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
// errors, because results are possible without it. It also leaves all threads where they are unless exactly
// one has the name of the counting thread: up to Java 7, all threads have the launcher's name.
func placeThreads(process int, cpus []int) {
	if len(cpus) == 0 {
		cpus, _ = machine.Affinity()
	}
	if len(cpus) < 2 {
		return
	}
	last := len(cpus) - 1
	threads := threadsByName(process)
	if len(threads[countingThread]) != 1 {
		return
	}
	keepOn(threads[countingThread], cpus[last:])
	keepOn(threads[launcherThread], cpus[:last])
}

// threadsByName returns the numbers of the threads of a process that have the same name.
func threadsByName(process int) map[string][]int {
	threads := map[string][]int{}
	tasks, _ := filepath.Glob(machine.ProcFile(process, "task/*"))
	for _, task := range tasks {
		text, err := os.ReadFile(filepath.Join(task, "comm"))
		thread, problem := strconv.Atoi(filepath.Base(task))
		if err == nil && problem == nil {
			name := strings.TrimSpace(string(text))
			threads[name] = append(threads[name], thread)
		}
	}
	return threads
}

func keepOn(threads, cpus []int) {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	for _, thread := range threads {
		_ = unix.SchedSetaffinity(thread, &set)
	}
}
