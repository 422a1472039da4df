package machine

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// runningLooks is the number of looks of [Machine.WatchRunning]. A thread that runs for a moment
// counts in only one of them.
const runningLooks = 8

// WatchRunning counts the threads of other processes that run or wait for a CPU, in several looks
// spread over the given time, and sets Running to the mean. wait lets time pass. The load average
// of the last minute, in contrast, includes programs that have ended, such as the compiler that
// built this program.
func (m *Machine) WatchRunning(root fs.FS, over time.Duration, wait func(time.Duration) time.Duration) {
	if m.OS != "linux" {
		return
	}
	f := files{root}
	sum := 0
	for look := range runningLooks {
		if look > 0 {
			wait(over / (runningLooks - 1))
		}
		others, err := f.othersRunning()
		if err != nil {
			m.caveat("threads that run: %v", err)
			return
		}
		sum += others
	}
	m.Running = new(float64(sum) / runningLooks)
}

// othersRunning returns how many threads of other processes run or wait for a CPU.
func (f files) othersRunning() (int, error) {
	line, err := f.line("proc/loadavg")
	if err != nil {
		return 0, err
	}
	all, err := parseRunning(line)
	return max(0, all-f.ownRunning()), err
}

// parseRunning returns how many threads run or wait for a CPU from a line of /proc/loadavg: the
// part of the fourth field before the slash (proc_loadavg(5)).
func parseRunning(line string) (int, error) {
	const mostThreads = 1 << 22 // PID_MAX_LIMIT of the kernel
	if fields := strings.Fields(line); len(fields) >= 4 {
		running, total, cut := strings.Cut(fields[3], "/")
		n, err := strconv.ParseUint(running, 10, 32)
		all, errAll := strconv.ParseUint(total, 10, 32)
		if cut && err == nil && errAll == nil && n <= all && all <= mostThreads {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("/proc/loadavg holds %q, with no number of threads that run as its fourth field", clip(line))
}

// ownRunning returns how many threads of this process run or wait for a CPU, at least the calling
// one (by the state in /proc/self/task/TID/stat, proc_pid_stat(5)).
func (f files) ownRunning() int {
	threads, _ := fs.ReadDir(f.root, "proc/self/task")
	n := 0
	for _, thread := range threads {
		text, err := f.text("proc/self/task/" + thread.Name() + "/stat")
		if err != nil {
			continue
		}
		// The thread's name is in parentheses, and may contain any character.
		if _, state, ok := strings.Cut(text[max(0, strings.LastIndexByte(text, ')')):], ") "); ok && strings.HasPrefix(state, "R") {
			n++
		}
	}
	return max(1, n)
}
