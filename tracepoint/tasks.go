package tracepoint

import (
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Task is an existing thread.
type Task struct {
	Process, Thread int32
	Parent          int32 // the process that started Process
	Name            string
	State           State
	CPU             int32  // on which it ran last
	Kernel          bool   // a thread of the kernel
	CGroup          string // the control group that counts its CPU time
}

const mostTaskBytes = 4096

// kernelThread is the flag PF_KTHREAD of /proc/PID/stat (include/linux/sched.h).
const kernelThread = 0x00200000

// Tasks lists all threads in the folder proc below root. It leaves out threads that end
// meanwhile.
func Tasks(root fs.FS) (all []Task) {
	processes, err := fs.ReadDir(root, "proc")
	if err != nil {
		return nil
	}
	for _, entry := range processes {
		process, err := strconv.ParseInt(entry.Name(), 10, 32)
		if err != nil {
			continue
		}
		folder := path.Join("proc", entry.Name())
		group, _ := GroupOf(root, int32(process))
		threads, _ := fs.ReadDir(root, path.Join(folder, "task"))
		for _, thread := range threads {
			stat, err := fs.ReadFile(root, path.Join(folder, "task", thread.Name(), "stat"))
			if err != nil || len(stat) > mostTaskBytes {
				continue
			}
			if t, ok := parseTask(stat); ok {
				t.Process, t.CGroup = int32(process), group
				all = append(all, t)
			}
		}
	}
	return all
}

// StateIn returns the state of a thread from the text of its file /proc/PID/stat.
func StateIn(stat []byte) (State, bool) {
	t, ok := parseTask(stat)
	return t.State, ok
}

// parseTask reads /proc/PID/stat (proc_pid_stat(5)). The thread's name may contain blanks and
// parentheses.
func parseTask(stat []byte) (t Task, ok bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return t, false
	}
	id, err1 := strconv.ParseInt(strings.TrimSpace(string(stat[:open])), 10, 32)
	rest := strings.Fields(string(stat[end+1:]))
	if err1 != nil || len(rest) < 37 {
		return t, false
	}
	parent, err1 := strconv.ParseInt(rest[1], 10, 32)
	flags, err2 := strconv.ParseUint(rest[6], 10, 32)
	cpu, err3 := strconv.ParseUint(rest[36], 10, 16)
	if err1 != nil || err2 != nil || err3 != nil || id < 0 || parent < 0 {
		return t, false
	}
	return Task{
		Thread: int32(id), Parent: int32(parent), Name: string(stat[open+1 : end]),
		State: stateOf(1, map[int64]string{1: rest[0]}), Kernel: flags&kernelThread != 0, CPU: int32(cpu),
	}, true
}

// GroupOf returns the control group that counts the CPU time of a process, and false if the process has
// ended.
func GroupOf(root fs.FS, process int32) (group string, ok bool) {
	text, err := fs.ReadFile(root, path.Join("proc", strconv.Itoa(int(process)), "cgroup"))
	return cpuGroup(string(text)), err == nil
}

// cpuGroup returns the control group that counts CPU time, from the text of /proc/PID/cgroup
// (cgroups(7)): the group of the controller cpu in version 1, otherwise the group of version 2.
func cpuGroup(text string) (group string) {
	for line := range strings.Lines(text) {
		part := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(part) != 3 {
			continue
		}
		if part[1] == "" && group == "" {
			group = part[2]
		}
		for controller := range strings.SplitSeq(part[1], ",") {
			if controller == "cpu" {
				group = part[2]
			}
		}
	}
	return group
}
