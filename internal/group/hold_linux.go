package group

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// mostHeld is the largest number of processes that are looked for, since a program may start others meanwhile.
const mostHeld = 1000

// hold opens file descriptors of a process's descendants (pidfd_open(2), Linux 5.3 and later). So end does no
// harm if another process has one of their numbers by then.
func hold(c *exec.Cmd) (end func()) {
	pid, mark := c.Process.Pid, markOf(c)
	var held []int
	for queue := []int{pid}; len(queue) > 0 && len(held) < mostHeld; queue = queue[1:] {
		for _, child := range children(queue[0]) {
			fd, err := unix.PidfdOpen(child, 0)
			if err != nil {
				continue
			}
			if !slices.Contains(children(queue[0]), child) { // it has ended, and another process may have the number
				unix.Close(fd)
				continue
			}
			held, queue = append(held, fd), append(queue, child)
		}
	}
	return func() {
		for _, fd := range held {
			unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			unix.Close(fd)
		}
		endMembers(pid, mark)
	}
}

// memberRounds is how often endMembers looks for members, since they may start others meanwhile.
const memberRounds = 10

// endMembers kills the remaining processes of a program that leads a session and was given a mark: those in its
// session, and those with the mark in their environment. It also finds them if the program has ended and they
// have other parents. The program must not be reaped yet: until then no other session has its number.
func endMembers(leader int, mark string) {
	belongs := func(pid int) bool { return pid != leader && (sessionOf(pid) == leader || hasMark(pid, mark)) }
	for range memberRounds {
		found := false
		for _, pid := range processes() {
			if !belongs(pid) {
				continue
			}
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				continue
			}
			if belongs(pid) { // else it has ended, and another process may have the number
				found = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil || found
			}
			unix.Close(fd)
		}
		if !found {
			return
		}
	}
}

// hasMark reports whether a process was started with the variable (/proc/PID/environ, proc_pid_environ(5)).
func hasMark(pid int, mark string) bool {
	text, err := os.ReadFile(machine.ProcFile(pid, "environ"))
	return err == nil && mark != "" && slices.ContainsFunc(bytes.Split(text, []byte{0}), func(variable []byte) bool { return string(variable) == mark })
}

// processes returns all processes that /proc shows.
func processes() (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// sessionOf returns the session of a running process; 0 for any other (/proc/PID/stat, proc_pid_stat(5)).
func sessionOf(pid int) int {
	text, err := os.ReadFile(machine.ProcFile(pid, "stat"))
	if err != nil {
		return 0
	}
	// The name stands in brackets, and may hold any character.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
		return 0
	}
	session, _ := strconv.Atoi(fields[3])
	return session
}

// children returns the processes that a process has started and not yet waited for
// (/proc/PID/task/TID/children, proc(5)).
func children(pid int) (all []int) {
	tasks := machine.ProcFile(pid, "task")
	threads, _ := os.ReadDir(tasks)
	for _, thread := range threads {
		text, _ := os.ReadFile(tasks + "/" + thread.Name() + "/children")
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
