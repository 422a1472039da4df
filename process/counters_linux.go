package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"chronoscope/internal/perfring"
	"chronoscope/machine"
)

// readThread reads the kernel's counters of a thread from /proc/TID/schedstat. ReadNs is by the clock of the
// events. Its error is [machine.ErrUncounted] if the thread has not run, or the kernel does not count.
func readThread(id int) (Thread, error) {
	name := machine.ProcFile(id, "schedstat")
	text, err := readLine(name)
	if err != nil {
		return Thread{}, err
	}
	thread, err := parseThread(name, text)
	thread.ID, thread.ReadNs = id, perfring.Now()
	return thread, err
}

// monotonicNs returns the current time by CLOCK_MONOTONIC, which programs read as well. In a time namespace, the events have
// another time: that of [perfring.Now].
func monotonicNs() int64 { return clockNs(unix.CLOCK_MONOTONIC) }

// clockNs returns what a clock of the kernel shows (clock_gettime(2)); 0 if it can't be read.
func clockNs(id int32) int64 {
	var now unix.Timespec
	if unix.ClockGettime(id, &now) != nil {
		return 0
	}
	return now.Nano()
}

// readLine reads a file of one line with as few system calls as possible: it is called between two runs of
// programs that may be short.
func readLine(name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	text := make([]byte, 128)
	n, err := unix.Read(fd, text)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: name, Err: err}
	}
	return text[:n], nil
}

// parseThread parses three numbers: the time on a CPU, the time waiting for one, and the number of time slices.
func parseThread(name string, text []byte) (Thread, error) {
	if machine.Uncounted(text) {
		return Thread{}, machine.ErrUncounted
	}
	malformed := fmt.Errorf("%s holds %.80q, not three numbers", name, text)
	fields := bytes.Fields(text)
	if len(fields) != 3 {
		return Thread{}, malformed
	}
	var ns [2]int64
	for i := range ns {
		var err error
		if ns[i], err = strconv.ParseInt(string(fields[i]), 10, 64); err != nil || ns[i] < 0 {
			return Thread{}, malformed
		}
	}
	return Thread{CPUNs: ns[0], WaitNs: ns[1]}, nil
}

// peakResident returns the most memory that a process had resident, in bytes; 0 if it can't be read. It reads
// VmHWM of /proc/PID/status (proc_pid_status(5)), which starts at zero with the program, unlike what
// getrusage(2) tells.
func peakResident(pid int) int64 {
	return parsePeak(statusOf(pid))
}

// statusOf returns /proc/ID/status of a process or a thread (proc_pid_status(5)); nil if it can't be read.
func statusOf(id int) []byte {
	text, err := os.ReadFile(machine.ProcFile(id, "status"))
	if err != nil {
		return nil
	}
	return text
}

func parsePeak(text []byte) int64 { return 1024 * parseCount(text, "VmHWM:", "kB") }
