package offcpu

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// The kernel adds to the running time of a thread that keeps its CPU at its ticks, every 4 ms here. Looks in between saw 8 or
// 12 ms in 10.15, and 10 % of the time of a loop was blocked.
func TestAccountsOfALoop(t *testing.T) {
	const passedNs, tickNs, looks = 10_150_000, 4_000_000, 1000
	root := fstest.MapFS{}
	a := newAccounts(root, 0)
	for i := range int64(looks) {
		ran := i * passedNs / tickNs * tickNs
		root["proc/7/task/7/schedstat"] = &fstest.MapFile{Data: fmt.Appendf(nil, "%d 0 1", ran)}
		if !a.look(Target{Processes: map[int32]bool{7: true}}, passedNs) {
			t.Fatal("the thread is not found")
		}
	}
	if ran := float64(a.parts[key{cause: Ran}]) / float64(a.lives); a.lives != (looks-1)*passedNs || ran < 0.999 {
		t.Errorf("it ran for %.4f of %d ns: %v", ran, a.lives, a.parts)
	}
	// Another thread gets its number.
	root["proc/7/task/7/schedstat"] = &fstest.MapFile{Data: []byte("1000 0 1")}
	was := a.lives
	if a.look(Target{Processes: map[int32]bool{7: true}}, passedNs); a.lives != was {
		t.Errorf("the counters went back, and %d ns are counted", a.lives-was)
	}
}

// The kernel adds a wait for a CPU when it ends: what it was too long for the last look does not make sleep a wait.
func TestAccountsAfterALongWait(t *testing.T) {
	const passedNs = 10_000_000
	root := fstest.MapFS{}
	a := newAccounts(root, 0)
	for i := range 100 {
		waited := 0
		if i >= 50 {
			waited = 500_000_000
		}
		root["proc/7/task/7/schedstat"] = &fstest.MapFile{Data: fmt.Appendf(nil, "1000 %d 1", waited)}
		a.look(Target{Processes: map[int32]bool{7: true}}, passedNs)
	}
	if waited := a.parts[key{cause: RunqueueWait}]; waited != passedNs {
		t.Errorf("it waited for %d ns in the last 500 ms, in which it slept", waited)
	}
}

// A quota lets a loop run for 20 of 100 ms. While it is kept from the CPU, the kernel counts nothing: 70 % of its time was
// blocked. Afterwards it counts a wait for a CPU, and only the group's account tells that nobody else had it. A group without
// a quota may have been stopped before it was taken away.
func TestAccountsOfAThrottledLoop(t *testing.T) {
	const passedNs, looks = 10_000_000, 1001
	for limit, want := range map[string]Cause{"20000 100000\n": Throttled, "max 100000\n": RunqueueWait} {
		root := fstest.MapFS{
			"proc/7/task/7/stat": {Data: []byte("7 (loop) R" + strings.Repeat(" 1", 50))}, "proc/7/cgroup": {Data: []byte("0::/work\n")},
			"proc/self/mountinfo":         {Data: []byte("31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")},
			"sys/fs/cgroup/work/cpu.max":  {Data: []byte(limit)},
			"sys/fs/cgroup/work/cpu.stat": {Data: []byte("throttled_usec 700000\n")},
		}
		a := newAccounts(root, 0)
		for i := range looks {
			periods, part := i/10, i%10
			ran, waited := (20*periods+10*min(part, 2))*1_000_000, 80*periods*1_000_000
			root["proc/7/task/7/schedstat"] = &fstest.MapFile{Data: fmt.Appendf(nil, "%d %d 1", ran, waited)}
			if want == Throttled {
				root["sys/fs/cgroup/work/cpu.stat"] = &fstest.MapFile{Data: fmt.Appendf(nil, "throttled_usec %d\n", 700_000+80_000*periods)}
			}
			a.look(Target{Processes: map[int32]bool{7: true}}, passedNs)
		}
		r := a.result(looks*passedNs, errors.New("no rights"))
		if ran, waited := shareOf(r.Parts, Ran), shareOf(r.Parts, want); ran < 0.199 || ran > 0.201 || waited < 0.79 || waited > 0.81 {
			t.Errorf("%q: it ran for %.3f of the time and %s took %.3f: %+v", limit, ran, want, waited, r.Parts)
		}
	}
}

// What the parent has started before, as to keep CPUs busy, is not the target's.
func TestAccountsLeaveOutEarlierChildren(t *testing.T) {
	root := fstest.MapFS{"proc/1/task/1/children": {Data: []byte("2 3 ")}}
	a := newAccounts(root, 1)
	root["proc/1/task/1/children"] = &fstest.MapFile{Data: []byte("2 3 4 ")}
	root["proc/4/task/4/children"] = &fstest.MapFile{Data: []byte("5 ")}
	if got := a.processes(Target{Parent: 1}); len(got) != 2 || !got[4] || !got[5] {
		t.Errorf("%v, want 4 and 5", got)
	}
}

// A zombie does not keep the recording from its end, and the number of a process that is gone is no longer the target's.
func TestAccountsOfProcessesThatEnd(t *testing.T) {
	root := fstest.MapFS{}
	stat := func(state string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("7 (child) " + state + strings.Repeat(" 1", 50))}
	}
	root["proc/7/task/7/stat"], root["proc/7/task/7/schedstat"] = stat("S"), &fstest.MapFile{Data: []byte("1 1 1")}
	a, target := newAccounts(root, 0), Target{Processes: map[int32]bool{7: true}}
	if !a.look(target, 1) {
		t.Error("a thread that sleeps has ended")
	}
	root["proc/7/task/7/stat"] = stat("Z")
	if a.look(target, 1) {
		t.Error("a zombie lives")
	}
	target.Processes[9] = true
	if a.look(target, 1); target.Processes[9] || !target.Processes[7] {
		t.Errorf("%v, want 7, which its parent has not asked for yet", target.Processes)
	}
}
