package offcpu

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// Blocked is a wait whose kernel function is known, but not its waker. [Accounts] finds it
// without privileges.
const Blocked Cause = "blocked"

// lookEvery is the interval between two samples of the threads' states.
const lookEvery = 10 * time.Millisecond

// Accounts finds without privileges how threads spent their time. The kernel's counters say how
// long each thread ran and waited for a CPU (/proc/PID/schedstat). Sampling a hundred times a
// second says in which kernel function it waits (/proc/PID/stat and wchan). It can't find who
// made a thread wait: unavailable is the reason why tracepoints could not be used, which lowers
// the verdict.
func Accounts(ctx context.Context, o Options, begin func() error, unavailable error) (Recording, error) {
	a := newAccounts(o.Root, o.Parent)
	if err := begin(); err != nil {
		return Recording{}, err
	}
	start := time.Now()
	lastAt, group := start, members{folder: o.Group}
	for first := true; first || ctx.Err() == nil && time.Since(start) < o.Duration; first = false {
		now := time.Now()
		maps.Copy(o.Processes, group.now())
		if !a.look(o.Target, now.Sub(lastAt).Nanoseconds()) && o.Parent == 0 {
			break
		}
		lastAt = now
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
	a.look(o.Target, time.Since(lastAt).Nanoseconds())
	return Recording{Result: a.result(time.Since(start).Nanoseconds(), unavailable)}, nil
}

// accounts sums up the time of a target's threads.
type accounts struct {
	root    fs.FS
	threads map[int32]*account
	parts   map[key]int64
	looks   map[key]int64
	lives   int64
	stats   map[int32][]string // names of the cpu.stat files of the quotas that limit a process
	stopped map[string]float64 // what these files tell in this look
	// apart are the children of the target's parent from before the recording, which are not the target's.
	apart map[int32]bool
}

func newAccounts(root fs.FS, parent int32) *accounts {
	a := &accounts{root: root, threads: map[int32]*account{}, parts: map[key]int64{}, looks: map[key]int64{}, stats: map[int32][]string{}, stopped: map[string]float64{}}
	if parent != 0 {
		a.apart = a.children(parent)
	}
	return a
}

// account holds what was counted of one thread so far, by the kernel's counters. That of the running time may be ahead: the
// kernel adds to it at ticks while the thread keeps its CPU, and this may be more than has passed since the last sample.
type account struct {
	ranNs, waitedNs int64
	queuedNs, looks int64   // its part of the run-queue wait, and in how many looks
	stoppedNs       float64 // by which its quotas had stopped their groups at the last look
	stopsNs         float64 // by which they have stopped them since its first look
}

// look samples all threads, passedNs after the previous sample. It reports whether the target has
// threads that have not ended. Processes that are gone leave the target: their numbers may be given to others.
func (a *accounts) look(target Target, passedNs int64) (alive bool) {
	clear(a.stopped)
	for process := range a.processes(target) {
		folder := path.Join("proc", strconv.Itoa(int(process)), "task")
		threads, err := fs.ReadDir(a.root, folder)
		if errors.Is(err, fs.ErrNotExist) {
			delete(target.Processes, process)
			delete(a.stats, process)
		}
		for _, entry := range threads {
			id, err := strconv.ParseInt(entry.Name(), 10, 32)
			if err == nil && (target.Thread == 0 || target.Thread == int32(id)) {
				alive = a.lookAt(path.Join(folder, entry.Name()), process, int32(id), passedNs) || alive
			}
		}
	}
	return alive
}

// lookAt samples one thread and adds the time since the previous sample. It reports whether the thread has not ended.
func (a *accounts) lookAt(folder string, process, id int32, passedNs int64) (alive bool) {
	text, err := fs.ReadFile(a.root, path.Join(folder, "schedstat"))
	fields := bytes.Fields(text)
	if err != nil || len(fields) != 3 {
		return true
	}
	ran, err1 := strconv.ParseInt(string(fields[0]), 10, 64)
	waited, err2 := strconv.ParseInt(string(fields[1]), 10, 64)
	if err1 != nil || err2 != nil || ran < 0 || waited < 0 {
		return true
	}
	rest := a.waitsFor(folder)
	if rest.cause == "" {
		return false
	}
	was, stoppedNs := a.threads[id], a.stoppedNs(process)
	if was == nil || ran < was.ranNs || waited < was.waitedNs { // a new thread, which may have the number of one that has ended
		a.throttle(was)
		a.threads[id] = &account{ranNs: ran, waitedNs: waited, stoppedNs: stoppedNs}
		return true
	}
	ranNs := min(passedNs, ran-was.ranNs)
	waitedNs := min(passedNs-ranNs, waited-was.waitedNs)
	was.ranNs, was.waitedNs = was.ranNs+ranNs, waited
	restNs := passedNs - ranNs - waitedNs
	a.lives += passedNs
	a.add(key{cause: Ran}, ranNs)
	a.add(key{cause: RunqueueWait}, waitedNs)
	a.add(rest, restNs)
	if rest.cause == RunqueueWait {
		waitedNs += restNs
	}
	if waitedNs > 0 {
		was.queuedNs, was.looks = was.queuedNs+waitedNs, was.looks+1
	}
	was.stopsNs, was.stoppedNs = was.stopsNs+max(0, stoppedNs-was.stoppedNs), stoppedNs
	return true
}

// stoppedNs returns the total time for which the quotas that limit a process have stopped their groups so far.
func (a *accounts) stoppedNs(process int32) (ns float64) {
	names, known := a.stats[process]
	if !known {
		names = slices.DeleteFunc(machine.CPUStatsOf(a.root, strconv.Itoa(int(process))), func(name string) bool { return !machine.HasQuota(a.root, name) })
		a.stats[process] = names
	}
	for _, name := range names {
		if _, read := a.stopped[name]; !read {
			a.stopped[name] = machine.StoppedNsIn(a.root, name)
		}
		if stopped := a.stopped[name]; !math.IsNaN(stopped) {
			ns += stopped
		}
	}
	return ns
}

// throttle moves the part of a thread's run-queue wait in which quotas stopped it to the cause Throttled. The kernel counts a
// stop like a wait for a CPU that others have. How many of a group's CPUs a stop concerned is not known: all of it is taken to
// have concerned the thread.
func (a *accounts) throttle(t *account) {
	if t == nil || t.queuedNs == 0 {
		return
	}
	ns := int64(min(float64(t.queuedNs), t.stopsNs))
	looks := int64(math.Round(float64(t.looks) * float64(ns) / float64(t.queuedNs)))
	queued, throttled := key{cause: RunqueueWait}, key{cause: Throttled}
	a.parts[queued], a.looks[queued] = a.parts[queued]-ns, a.looks[queued]-looks
	a.parts[throttled], a.looks[throttled] = a.parts[throttled]+ns, a.looks[throttled]+looks
}

func (a *accounts) add(k key, ns int64) {
	if ns > 0 {
		a.parts[k] += ns
		a.looks[k]++
	}
}

// waitsFor returns the cause of a thread's present wait, and no cause if the thread has ended (a zombie). The kernel shows the
// function in which a thread waits only to users who may inspect its process.
func (a *accounts) waitsFor(folder string) key {
	stat, _ := fs.ReadFile(a.root, path.Join(folder, "stat"))
	switch state, ok := tracepoint.StateIn(stat); {
	case ok && state == tracepoint.Ended:
		return key{}
	case ok && (state == tracepoint.Stopped || state == tracepoint.Traced):
		return key{cause: Stopped}
	case ok && state == tracepoint.Runnable: // the kernel counts a wait for a CPU when it ends
		return key{cause: RunqueueWait}
	}
	name := waitsIn(a.root, folder)
	if strings.Contains(name, "nanosleep") {
		return key{cause: Timer}
	}
	return key{Blocked, Who{Name: name}}
}

// waitsIn returns the kernel function in which the thread of a /proc folder waits, empty if
// unknown.
func waitsIn(root fs.FS, folder string) string {
	in, _ := fs.ReadFile(root, path.Join(folder, "wchan"))
	name, _, _ := strings.Cut(strings.TrimSpace(string(in)), ".") // the compiler adds suffixes such as .isra.0
	if name == "0" || len(name) > 64 {
		return ""
	}
	return name
}

// processes returns the processes of the target and all their descendants.
func (a *accounts) processes(target Target) map[int32]bool {
	all := map[int32]bool{}
	var add func(process int32)
	add = func(process int32) {
		if all[process] {
			return
		}
		all[process] = true
		for child := range a.children(process) {
			add(child)
		}
	}
	for process := range target.Processes {
		add(process)
	}
	if target.Parent != 0 {
		for child := range a.children(target.Parent) {
			if !a.apart[child] {
				add(child)
			}
		}
	}
	return all
}

// children returns the processes that the threads of a process have started
// (proc_tid_children(5)).
func (a *accounts) children(process int32) map[int32]bool {
	all := map[int32]bool{}
	folder := path.Join("proc", strconv.Itoa(int(process)), "task")
	threads, _ := fs.ReadDir(a.root, folder)
	for _, thread := range threads {
		text, _ := fs.ReadFile(a.root, path.Join(folder, thread.Name(), "children"))
		addNumbers(all, text)
	}
	return all
}

func addNumbers(to map[int32]bool, text []byte) {
	for _, field := range bytes.Fields(text) {
		if number, err := strconv.ParseInt(string(field), 10, 32); err == nil && number > 0 {
			to[int32(number)] = true
		}
	}
}

// result returns the sums as shares of the threads' time.
func (a *accounts) result(recordedNs int64, unavailable error) Result {
	r := Result{RecordedNs: recordedNs, ThreadNs: a.lives, Threads: len(a.threads), Parts: []Part{}, Worst: []Period{}, Periods: []Period{}}
	for _, t := range a.threads {
		a.throttle(t)
	}
	maps.DeleteFunc(a.parts, func(_ key, ns int64) bool { return ns == 0 })
	for k, ns := range a.parts {
		r.Parts = append(r.Parts, Part{Cause: k.cause, Who: k.who, Share: float64(ns) / float64(max(1, a.lives)), Count: a.looks[k], TotalNs: ns})
	}
	order(r.Parts)
	r.judge()
	r.Lower(stats.Suspect, "who made the threads wait is not known: %v", unavailable)
	return r
}
