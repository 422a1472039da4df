package process

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// Others watches how much of this machine's CPUs other processes use. It needs no rights: the kernel tells the
// CPU time of each process (clock_getcpuclockid(3)), in nanoseconds.
type Others struct {
	processes map[int]usage
	tasks     tasks
	lookedNs  int64
	ownNs     int64
	// allNs is the CPU time of all processes, including those that have ended, less that of this process and
	// its children; -1 if it is not known.
	allNs int64
}

// usage is the CPU time of all threads of a process, and their run-queue wait.
type usage struct{ cpuNs, waitNs int64 }

// OpenOthers begins to watch. It returns an error if not all processes can be seen, as in a container.
func OpenOthers() (*Others, error) {
	if err := machine.ProcError(); err != nil {
		return nil, err
	}
	const kthreadd = "/proc/2/comm" // the parent of the kernel's threads
	if name, err := os.ReadFile(kthreadd); err != nil || string(name) != "kthreadd\n" {
		return nil, fmt.Errorf("%s is not that of kthreadd: processes of this machine are hidden here", kthreadd)
	}
	o := &Others{processes: map[int]usage{}, tasks: unknownTasks, allNs: othersCPUNs()}
	if seen := o.Look(0, nil).CPUNs; o.allNs < seen { // the file is that of a container
		o.allNs = -1
	}
	return o, nil
}

// Look returns what other processes than this one did since the last look. started is the number of threads and
// processes that this process, or what it measures, started since the last look and that have ended: their numbers are
// not taken for those of others that came and went. ElsewhereNs leaves out processes that are bound to the CPUs in
// here; if here is nil, no process counts as bound. A look takes about 60 µs. A nil Others returns an unknown use.
//
// If others had more than half of the CPUs, they could have delayed anything: then WaitNs is forEver, since the true
// value takes longer to find out. WaitNs is also forEver if processes came and went. Their CPU time is that of all
// processes less that of the processes that were seen.
func (o *Others) Look(started int, here []int) (use OthersUse) {
	if o == nil {
		return use
	}
	before, tasks, now := o.tasks, readTasks(), monotonicNs()
	unseen, passedNs := tasks.lastPID-before.lastPID-started, now-o.lookedNs
	use.Known, use.PassedNs = before.lastPID >= 0 && tasks.lastPID >= before.lastPID, passedNs
	own := ownCPUNs()
	use.OwnNs, o.ownNs = own-o.ownNs, own
	if o.tasks, o.lookedNs = tasks, now; unseen != 0 || !use.Known {
		found := o.find()
		// If the number of threads grew by unseen, none of the threads that were started has ended: known
		// processes have started them.
		use.Known = use.Known && (found >= unseen || tasks.threads-before.threads == unseen)
	}
	var active []int
	for pid, was := range o.processes {
		var used unix.Timespec
		if unix.ClockGettime(processClock(pid), &used) != nil { // it has ended: its last CPU time is not known
			use.Known = false
			delete(o.processes, pid)
			continue
		}
		ns := used.Nano()
		if ns < was.cpuNs { // another process has the number
			was = usage{}
		}
		if ns > was.cpuNs {
			use.CPUNs += ns - was.cpuNs
			if !boundTo(pid, here) {
				use.ElsewhereNs += ns - was.cpuNs
			}
			active = append(active, pid)
		}
		o.processes[pid] = usage{ns, was.waitNs}
	}
	if was := o.allNs; was >= 0 {
		if o.allNs = othersCPUNs(); !use.Known && o.allNs >= was {
			use.addUnseen(o.allNs - was)
		}
	}
	if 2*use.CPUNs > passedNs*int64(runtime.NumCPU()) {
		use.WaitNs = forEver
	}
	if use.WaitNs == forEver {
		return use
	}
	for _, pid := range active {
		was := o.processes[pid]
		ns := waitOf(pid)
		use.WaitNs += max(0, ns-was.waitNs)
		o.processes[pid] = usage{was.cpuNs, ns}
	}
	return use
}

// addUnseen adds the CPU time of the processes that were not seen. allNs is what the kernel counted for all other
// processes together, seen or not. The kernel adds to that sum when a process gives up its CPU, and at each tick, so
// that the sum may lack the last tick of each process that still runs. For these, addUnseen adds a tick for each CPU,
// or as much CPU time as was seen if that is less.
func (u *OthersUse) addUnseen(allNs int64) {
	const tickNs = 10e6 // at most
	unseenNs := max(0, allNs-u.CPUNs) + min(u.CPUNs, tickNs*int64(runtime.NumCPU()))
	u.Known, u.CPUNs, u.ElsewhereNs, u.WaitNs = true, u.CPUNs+unseenNs, u.ElsewhereNs+unseenNs, forEver
}

// othersCPUNs returns the CPU time of all processes, from the root of the control groups
// (Documentation/admin-guide/cgroup-v1/cpuacct.rst), less that of this process and its children; -1 if there is
// no such file.
func othersCPUNs() int64 {
	text, err := readLine("/sys/fs/cgroup/cpuacct/cpuacct.usage")
	if err != nil {
		return -1
	}
	all, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	var children unix.Rusage
	if err != nil || unix.Getrusage(unix.RUSAGE_CHILDREN, &children) != nil {
		return -1
	}
	return all - ownCPUNs() - children.Utime.Nano() - children.Stime.Nano()
}

// boundTo reports whether the first thread of a process may use no other CPUs than these.
func boundTo(pid int, cpus []int) bool {
	var may unix.CPUSet
	if len(cpus) == 0 || unix.SchedGetaffinity(pid, &may) != nil {
		return false
	}
	for _, cpu := range cpus {
		may.Clear(cpu)
	}
	return may.Count() == 0
}

// forEver is longer than any time, and can be added to a time without an overflow.
const forEver = math.MaxInt64 / 4

// find adds the processes that were not known, and returns their number.
func (o *Others) find() (found int) {
	self := os.Getpid()
	for _, pid := range numbersIn("/proc") {
		if _, known := o.processes[pid]; !known && pid != self {
			o.processes[pid] = usage{}
			found++
		}
	}
	return found
}

// tasks holds the number that was given to a thread or process last, and the number of threads on the machine.
type tasks struct{ lastPID, threads int }

var unknownTasks = tasks{-1, 0}

// readTasks reads these numbers from /proc/loadavg (proc_loadavg(5)).
func readTasks() tasks {
	text, err := readLine("/proc/loadavg")
	if err != nil {
		return unknownTasks
	}
	return parseTasks(string(text))
}

func parseTasks(text string) tasks {
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return unknownTasks
	}
	_, all, _ := strings.Cut(fields[3], "/")
	threads, err := strconv.Atoi(all)
	pid, malformed := strconv.Atoi(fields[4])
	if err != nil || malformed != nil {
		return unknownTasks
	}
	return tasks{pid, threads}
}

// waitOf returns the time for which the threads of a process have waited for a CPU.
func waitOf(pid int) (ns int64) {
	for _, id := range numbersIn(machine.ProcFile(pid, "task")) {
		if thread, err := readThread(id); err == nil {
			ns += thread.WaitNs
		}
	}
	return ns
}

// numbersIn returns the entries of a folder that are numbers, with as few system calls as possible.
func numbersIn(dir string) (all []int) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	buffer := make([]byte, 8<<10)
	for {
		n, err := unix.ReadDirent(fd, buffer)
		if err != nil || n <= 0 {
			return all
		}
		var names []string
		_, _, names = unix.ParseDirent(buffer[:n], -1, names)
		for _, name := range names {
			if number, err := strconv.Atoi(name); err == nil {
				all = append(all, number)
			}
		}
	}
}

// ownCPUNs returns the CPU time of this process.
func ownCPUNs() int64 {
	return clockNs(unix.CLOCK_PROCESS_CPUTIME_ID)
}
