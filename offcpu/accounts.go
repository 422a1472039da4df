package offcpu

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// Blocked is a wait of which only the kernel's function is known, not who ended it: it is found without
// rights.
const Blocked Cause = "blocked"

// lookEvery is how often the threads' states are looked at.
const lookEvery = 10 * time.Millisecond

// Accounts finds, without rights, how threads spent their time: from the kernel's accounts, how long
// each ran and waited for a CPU (/proc/PID/schedstat); and a hundred times a second, which function
// of the kernel it waits in (/proc/PID/stat and wchan). Who made it wait is not known: unavailable
// says why, and lowers the verdict.
func Accounts(ctx context.Context, o Options, begin func() error, unavailable error) (Recording, error) {
	if err := begin(); err != nil {
		return Recording{}, err
	}
	a := &accounts{root: o.Root, threads: map[int32]*account{}, parts: map[key]int64{}, looks: map[key]int64{}}
	start := time.Now()
	lastAt := start
	for first := true; first || ctx.Err() == nil && time.Since(start) < o.Duration; first = false {
		now := time.Now()
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

// accounts are those of a target's threads.
type accounts struct {
	root    fs.FS
	threads map[int32]*account
	parts   map[key]int64
	looks   map[key]int64
	lives   int64
}

// account is what the kernel has counted of a thread so far.
type account struct{ ranNs, waitedNs int64 }

// look reads all accounts, for the time since the last look, and says whether threads are there.
func (a *accounts) look(target Target, passedNs int64) (alive bool) {
	for process := range a.processes(target) {
		folder := path.Join("proc", strconv.Itoa(int(process)), "task")
		threads, _ := fs.ReadDir(a.root, folder)
		for _, entry := range threads {
			id, err := strconv.ParseInt(entry.Name(), 10, 32)
			if err == nil && (target.Thread == 0 || target.Thread == int32(id)) {
				a.lookAt(path.Join(folder, entry.Name()), int32(id), passedNs)
				alive = true
			}
		}
	}
	return alive
}

// lookAt reads the account of a thread.
func (a *accounts) lookAt(folder string, id int32, passedNs int64) {
	text, err := fs.ReadFile(a.root, path.Join(folder, "schedstat"))
	fields := bytes.Fields(text)
	if err != nil || len(fields) != 3 {
		return
	}
	ran, err1 := strconv.ParseInt(string(fields[0]), 10, 64)
	waited, err2 := strconv.ParseInt(string(fields[1]), 10, 64)
	if err1 != nil || err2 != nil || ran < 0 || waited < 0 {
		return
	}
	was := a.threads[id]
	a.threads[id] = &account{ran, waited}
	if was == nil {
		return
	}
	ranNs := min(passedNs, max(0, ran-was.ranNs))
	waitedNs := min(passedNs-ranNs, max(0, waited-was.waitedNs))
	a.lives += passedNs
	a.add(key{cause: Ran}, ranNs)
	a.add(key{cause: RunqueueWait}, waitedNs)
	a.add(a.waitsFor(folder), passedNs-ranNs-waitedNs)
}

func (a *accounts) add(k key, ns int64) {
	if ns > 0 {
		a.parts[k] += ns
		a.looks[k]++
	}
}

// waitsFor is what a thread waits for at this moment: the kernel's function that it waits in is told
// to whom the process belongs.
func (a *accounts) waitsFor(folder string) key {
	stat, _ := fs.ReadFile(a.root, path.Join(folder, "stat"))
	if state, ok := tracepoint.StateIn(stat); ok && (state == tracepoint.Stopped || state == tracepoint.Traced) {
		return key{cause: Stopped}
	}
	name := waitsIn(a.root, folder)
	if strings.Contains(name, "nanosleep") {
		return key{cause: Timer}
	}
	return key{Blocked, Who{Name: name}}
}

// waitsIn is the function of the kernel that the thread of a folder waits in, empty where that is not told.
func waitsIn(root fs.FS, folder string) string {
	in, _ := fs.ReadFile(root, path.Join(folder, "wchan"))
	name, _, _ := strings.Cut(strings.TrimSpace(string(in)), ".") // behind it is what the compiler made of it
	if name == "0" || len(name) > 64 {
		return ""
	}
	return name
}

// processes are those of the target, with what they have started.
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
			add(child)
		}
	}
	return all
}

// children are the processes that the threads of a process have started (proc_tid_children(5)).
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

// addNumbers adds the process numbers of a text.
func addNumbers(to map[int32]bool, text []byte) {
	for _, field := range bytes.Fields(text) {
		if number, err := strconv.ParseInt(string(field), 10, 32); err == nil && number > 0 {
			to[int32(number)] = true
		}
	}
}

// result says what was counted.
func (a *accounts) result(recordedNs int64, unavailable error) Result {
	r := Result{RecordedNs: recordedNs, ThreadNs: a.lives, Threads: len(a.threads), Parts: []Part{}, Worst: []Period{}, Periods: []Period{}}
	for k, ns := range a.parts {
		r.Parts = append(r.Parts, Part{Cause: k.cause, Who: k.who, Share: float64(ns) / float64(max(1, a.lives)), Count: a.looks[k], TotalNs: ns})
	}
	order(r.Parts)
	r.judge()
	r.Lower(stats.Suspect, "who made the threads wait is not known: %v", unavailable)
	return r
}
