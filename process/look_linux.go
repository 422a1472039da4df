package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"chronoscope/machine"
)

// Look returns the counters of a running process.
func Look(pid int) (Snapshot, error) {
	var s Snapshot
	if err := machine.ProcError(); err != nil {
		return s, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	stat, err := os.ReadFile(machine.ProcFile(pid, "stat"))
	if err != nil {
		return s, fmt.Errorf("looking at process %d: %w: check that it runs", pid, err)
	}
	if s.UserNs, s.SystemNs, s.MinorFaults, s.MajorFaults, err = parseStat(stat); err != nil {
		return s, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	entries, err := os.ReadDir(machine.ProcFile(pid, "task"))
	if err != nil {
		return s, fmt.Errorf("looking at the threads of process %d: %w", pid, err)
	}
	var unread error // of the last thread whose schedstat could not be read
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if t, err := readThread(id); err == nil {
			s.Threads = append(s.Threads, t)
		} else {
			unread = err
		}
		status := statusOf(id)
		s.VoluntarySwitches += parseCount(status, "voluntary_ctxt_switches:", "")
		s.InvoluntarySwitches += parseCount(status, "nonvoluntary_ctxt_switches:", "")
	}
	s.MaxRSSBytes = peakResident(pid)
	if len(s.Threads) == 0 {
		return s, noThreads(pid, unread)
	}
	return s, nil
}

// noThreads explains why no thread of a process can be looked at. unread is the error of one of them; nil if there is none.
func noThreads(pid int, unread error) error {
	switch {
	case unread == nil:
		return fmt.Errorf("looking at process %d: it has no threads: check that it runs", pid)
	case errors.Is(unread, machine.ErrUncounted):
		return fmt.Errorf("looking at process %d: %w", pid, unread)
	}
	return fmt.Errorf("looking at process %d: none of its threads' schedstat can be read: %w: the kernel needs CONFIG_SCHED_INFO, and /proc must not hide it", pid, unread)
}

var errStat = errors.New("its stat file is malformed")

// parseStat reads the times and faults from /proc/PID/stat (proc_pid_stat(5)). The name in parentheses may hold
// any character.
func parseStat(text []byte) (userNs, systemNs, minor, major int64, err error) {
	const tickNs = 10e6 // USER_HZ is 100 on every architecture here
	end := bytes.LastIndexByte(text, ')')
	fields := bytes.Fields(text[end+1:])
	if end < 0 || len(fields) < 13 {
		return 0, 0, 0, 0, errStat
	}
	var n [4]int64
	for i, field := range []int{7, 9, 11, 12} {
		if n[i], err = strconv.ParseInt(string(fields[field]), 10, 48); err != nil || n[i] < 0 {
			return 0, 0, 0, 0, errStat
		}
	}
	return n[2] * tickNs, n[3] * tickNs, n[0], n[1], nil
}

// parseCount reads a number with its unit from a line of /proc/PID/status; 0 if the line is missing, or is otherwise.
func parseCount(text []byte, name, unit string) int64 {
	for line := range bytes.Lines(text) {
		value, named := bytes.CutPrefix(line, []byte(name))
		if !named {
			continue
		}
		number, inUnit := bytes.CutSuffix(bytes.TrimSpace(value), []byte(unit))
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 53); inUnit && err == nil && n >= 0 {
			return n
		}
	}
	return 0
}
