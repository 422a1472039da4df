package machine

import (
	"fmt"
	"time"
)

// defaultTimerSlack is the kernel's default (PR_SET_TIMERSLACK(2const)).
const defaultTimerSlack = 50 * time.Microsecond

// judgeTimerSlack judges by how much the kernel may delay this process's timers to wake the CPU
// less often (proc_pid_timerslack_ns(5)).
func judgeTimerSlack(d *Doctor) (*Finding, error) {
	const name = "proc/self/timerslack_ns"
	ns, err := d.files().integer(name)
	if err != nil {
		return nil, err
	}
	if ns < 0 {
		return nil, fmt.Errorf("/%s holds %d, less than 0", name, ns)
	}
	slack := time.Duration(ns)
	seen := fmt.Sprintf("timers of this process may fire %v late", slack)
	if slack <= defaultTimerSlack {
		return fine(seen), nil
	}
	return worthNoting(seen, "sleeps and periodic work are late by up to that much, more than a process usually is",
		fmt.Sprintf("find who set it (a service's TimerSlackNSec, prctl in a parent), or in this shell: echo %d > /proc/$$/timerslack_ns", defaultTimerSlack.Nanoseconds())), nil
}
