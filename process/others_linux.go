package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Others watches what other processes of this machine use of its CPUs, without rights: the kernel
// tells the CPU time of each process (clock_getcpuclockid(3)), in nanoseconds.
type Others struct {
	proc      *os.File
	processes map[int]usage
	lastPID   int
}

// usage is what all threads of a process have used, and waited for a CPU.
type usage struct{ cpuNs, waitNs int64 }

// OpenOthers begins to watch. The error says that not all processes can be seen, as in a container.
func OpenOthers() (*Others, error) {
	const kthreadd = "/proc/2/comm" // the parent of the kernel's threads
	if name, err := os.ReadFile(kthreadd); err != nil || string(name) != "kthreadd\n" {
		return nil, fmt.Errorf("%s is not that of kthreadd: processes of this machine are hidden here", kthreadd)
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	o := &Others{proc: proc, processes: map[int]usage{}, lastPID: -1}
	o.Look(0)
	return o, nil
}

// Close ends the watch; nil has none.
func (o *Others) Close() {
	if o != nil {
		o.proc.Close()
	}
}

// OthersUse is what other processes did between two looks.
type OthersUse struct {
	// Known tells that nothing else is missing.
	Known bool
	// CPUNs is the CPU time of all, WaitNs for how long their threads waited for a CPU.
	CPUNs, WaitNs int64
}

// Look tells what other processes than this one did since the last look. started is how many threads
// and processes were started meanwhile that are none of the others, and have ended. It takes some
// 50 µs. Nil knows of nothing.
func (o *Others) Look(started int) (use OthersUse) {
	if o == nil {
		return use
	}
	last := lastPID()
	unseen := last - o.lastPID - started
	use.Known = o.lastPID >= 0 && last >= o.lastPID
	if o.lastPID = last; unseen != 0 || !use.Known {
		found := o.find()
		use.Known = use.Known && found >= unseen
	}
	for pid, was := range o.processes {
		var used unix.Timespec
		if unix.ClockGettime(processClock(pid), &used) != nil { // it has ended: what it did last is not known
			use.Known = false
			delete(o.processes, pid)
			continue
		}
		now := usage{used.Nano(), was.waitNs}
		if now.cpuNs < was.cpuNs { // another process has the number
			was = usage{}
		}
		if now.cpuNs > was.cpuNs {
			now.waitNs = waitOf(pid)
			use.CPUNs += now.cpuNs - was.cpuNs
			use.WaitNs += max(0, now.waitNs-was.waitNs)
		}
		o.processes[pid] = now
	}
	return use
}

// find finds processes that were not known, and says how many.
func (o *Others) find() (found int) {
	if _, err := o.proc.Seek(0, 0); err != nil {
		return 0
	}
	names, err := o.proc.Readdirnames(-1)
	if err != nil {
		return 0
	}
	self := os.Getpid()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if _, known := o.processes[pid]; err == nil && !known && pid != self {
			o.processes[pid] = usage{}
			found++
		}
	}
	return found
}

// lastPID is the number that a thread or process was given last, by /proc/loadavg
// (proc_loadavg(5)); -1 where that does not tell.
func lastPID() int {
	text, err := readLine("/proc/loadavg")
	if err != nil {
		return -1
	}
	fields := bytes.Fields(text)
	if len(fields) != 5 {
		return -1
	}
	pid, err := strconv.Atoi(string(fields[4]))
	if err != nil {
		return -1
	}
	return pid
}

// waitOf is for how long the threads of a process have waited for a CPU.
func waitOf(pid int) (ns int64) {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0
	}
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			if thread, err := readThread(id); err == nil {
				ns += thread.WaitNs
			}
		}
	}
	return ns
}

// ownCPUNs is the CPU time of this process.
func ownCPUNs() int64 {
	var used unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used) != nil {
		return 0
	}
	return used.Nano()
}
