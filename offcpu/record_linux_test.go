package offcpu

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"chronoscope/tracepoint"
)

const ms = 1_000_000

// groupTree returns a tree with /proc and control groups of version 2, in which some groups have a quota. groups are the
// groups of processes by number.
func groupTree(groups map[int]string, limited ...string) fstest.MapFS {
	root := fstest.MapFS{"proc/self/mountinfo": file("31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")}
	for process, group := range groups {
		root[fmt.Sprintf("proc/%d/cgroup", process)] = file("0::" + group + "\n")
		for ; group != "/"; group = path.Dir(group) {
			root["sys/fs/cgroup"+group+"/cpu.max"], root["sys/fs/cgroup"+group+"/cpu.stat"] = file("max 100000\n"), file("nr_throttled 0\nthrottled_usec 0\n")
		}
	}
	for _, group := range limited {
		root["sys/fs/cgroup"+group+"/cpu.max"] = file("20000 100000\n")
	}
	return root
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// quotaWorld has processes of one thread each, which the events switch on and off CPUs that are idle otherwise.
type quotaWorld struct {
	root  fstest.MapFS
	a     *Analyser
	watch *throttles
	nowNs int64
}

func newQuotaWorld(groups map[int]string, limited ...string) *quotaWorld {
	w := &quotaWorld{root: groupTree(groups, limited...)}
	var tasks []tracepoint.Task
	own := map[int32]bool{}
	for process, group := range groups {
		tasks = append(tasks, tracepoint.Task{Process: int32(process), Thread: int32(process), Name: fmt.Sprint("p", process), CGroup: group, State: tracepoint.Sleeping})
		own[int32(process)] = true
	}
	w.a = New(tasks, 0, 0, Target{Processes: own})
	w.watch = watchThrottles(w.root, func() int64 { return w.nowNs })
	w.watch.regroup(w.a)
	return w
}

// wait lets a process, which had the CPU before, wait for it.
func (w *quotaWorld) wait(process, cpu int32, fromMs, toMs int64) {
	w.a.Add([]tracepoint.Event{
		{AtNs: fromMs * ms, CPU: cpu, Kind: tracepoint.Switched, Process: process, Thread: process},
		{AtNs: toMs * ms, CPU: cpu, Kind: tracepoint.Switched, Other: process},
	})
}

// stop sets the time for which a group has been stopped.
func (w *quotaWorld) stop(group string, stoppedMs int64) {
	w.root["sys/fs/cgroup"+group+"/cpu.stat"] = file(fmt.Sprintf("nr_throttled 1\nthrottled_usec %d000\n", stoppedMs))
}

// ends checks for how many milliseconds the processes were throttled, by their numbers.
func (w *quotaWorld) ends(t *testing.T, want map[int32]int64) {
	t.Helper()
	w.watch.read(true)
	r := w.a.Result(w.a.lastNs, nil)
	got := map[int32]int64{}
	for _, p := range r.Periods {
		if p.Cause == Throttled {
			got[p.Process] += p.DurationNs / ms
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("throttled for %v ms, want %v: %+v", got, want, r.Parts)
	}
}

// Each thread is held against the quota of its own control group. The quota of one arbitrary process once stood for all.
func TestQuotasOfSeveralGroups(t *testing.T) {
	w := newQuotaWorld(map[int]string{1: "/pause", 2: "/work", 3: "/pause"}, "/pause", "/work")
	w.a.Add([]tracepoint.Event{{AtNs: 20 * ms, CPU: 0, Kind: tracepoint.Switched, Process: 2, Thread: 2}, {AtNs: 20 * ms, CPU: 1, Kind: tracepoint.Switched, Process: 3, Thread: 3},
		{AtNs: 100 * ms, CPU: 0, Kind: tracepoint.Switched, Other: 2}, {AtNs: 100 * ms, CPU: 1, Kind: tracepoint.Switched, Other: 3}})
	w.stop("/work", 80)
	w.nowNs = 105 * ms
	w.ends(t, map[int32]int64{2: 80})
}

// A stop that a group shares with its siblings, since it is one of the group above, is given to the threads of one CPU
// only. Once each sibling had it, on any CPU.
func TestQuotaAboveSiblings(t *testing.T) {
	w := newQuotaWorld(map[int]string{1: "/pods/a", 2: "/pods/b", 3: "/pods/b"}, "/pods")
	at := func(msec int64, cpu, from, to int32) tracepoint.Event {
		return tracepoint.Event{AtNs: msec * ms, CPU: cpu, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to}
	}
	w.a.Add([]tracepoint.Event{at(20, 0, 1, 3), at(25, 0, 3, 0), at(30, 1, 2, 0), at(80, 1, 0, 2), at(100, 0, 0, 1), at(101, 0, 1, 3)})
	w.stop("/pods", 80)
	w.nowNs = 105 * ms
	w.ends(t, map[int32]int64{1: 80, 3: 75})
}

// A process that moves was stopped by the quota of the group that it left, or by that of the group that it came to before
// the move was noticed.
func TestQuotasOfAMove(t *testing.T) {
	for _, stopped := range []string{"/old", "/new"} {
		w := newQuotaWorld(map[int]string{1: "/old", 2: "/new"}, "/old", "/new")
		w.wait(1, 0, 20, 100)
		w.root["proc/1/cgroup"] = file("0::/new\n")
		w.stop(stopped, 80)
		w.nowNs = 105 * ms
		w.watch.read(true)
		w.watch.regroup(w.a)
		w.ends(t, map[int32]int64{1: 80})
	}
}

// A process that starts, and moves to another group before it becomes another program, is held against the quota of that
// group, even if it ends within a second. It kept the group of its parent.
func TestQuotaOfANewProcess(t *testing.T) {
	w := newQuotaWorld(map[int]string{1: "/shim"}, "/shim")
	w.root["proc/9/cgroup"] = file("0::/pod\n")
	w.root["sys/fs/cgroup/pod/cpu.max"] = file("20000 100000\n")
	w.stop("/pod", 0)
	w.a.Add([]tracepoint.Event{{AtNs: 5 * ms, Kind: tracepoint.Forked, Process: 1, Thread: 1, Other: 9, Value: 9}, {AtNs: 6 * ms, Kind: tracepoint.Started, Process: 1, Thread: 1, Other: 9},
		{AtNs: 7 * ms, Kind: tracepoint.Switched, Process: 1, Thread: 1, Other: 9, Value: int32(tracepoint.Sleeping)}})
	w.a.RegroupNew(w.watch.groupOf)
	w.wait(9, 0, 20, 100)
	w.stop("/pod", 80)
	w.nowNs = 105 * ms
	w.watch.read(true)
	w.a.Add([]tracepoint.Event{{AtNs: 106 * ms, Kind: tracepoint.Switched, Process: 9, Thread: 9, Value: int32(tracepoint.Ended)}})
	w.watch.regroup(w.a)
	if len(w.watch.groups) != 1 {
		t.Errorf("groups without processes stay: %v", w.watch.groups)
	}
	w.ends(t, map[int32]int64{9: 80})
}

// counted is a tree that counts how often each of its files is opened.
type counted struct {
	fs.FS
	opened map[string]int
}

func (c counted) Open(name string) (fs.File, error) {
	c.opened[path.Base(name)]++
	return c.FS.Open(name)
}

func (c counted) ReadFile(name string) ([]byte, error) {
	c.opened[path.Base(name)]++
	return fs.ReadFile(c.FS, name)
}

// The file of a group above is read once for all groups below it. Files of groups without a quota are not read, and those
// of groups that are not stopped only when waits are settled. Once all were read at each look.
func TestReadingsAreShared(t *testing.T) {
	groups := map[int]string{}
	for i := range 200 {
		groups[i+1] = fmt.Sprintf("/pods/p%d/c", i)
	}
	w := newQuotaWorld(groups, "/pods", "/pods/p7")
	tree := counted{w.root, map[string]int{}}
	w.watch.root = tree
	for _, step := range []struct {
		name string
		does func()
		want map[string]int
	}{
		{"at rest", func() { w.watch.read(false) }, map[string]int{}},
		{"to settle", func() { w.watch.read(true) }, map[string]int{"cpu.stat": 2}},
		{"one was stopped", func() { w.stop("/pods/p7", 80); w.watch.read(true) }, map[string]int{"cpu.stat": 2}},
		{"soon after", func() { w.nowNs += 1; w.watch.read(false) }, map[string]int{"cpu.stat": 1}},
		{"long after", func() { w.nowNs += 20e9; w.watch.read(false) }, map[string]int{}},
		{"groups", func() { w.watch.regroup(w.a) }, map[string]int{"cgroup": 200}},
		{"quotas", func() { w.watch.recheck() }, map[string]int{"cpu.max": 401}},
	} {
		clear(tree.opened)
		w.nowNs += 100 * ms
		if step.does(); !maps.Equal(tree.opened, step.want) {
			t.Errorf("%s: %v, want %v", step.name, tree.opened, step.want)
		}
	}
}

// A stop of which nothing is left is given to no further wait. Each one was noted, and compared with all that were.
func TestWaitsAfterAStopIsGiven(t *testing.T) {
	q := &Quota{}
	q.Add(0, 0)
	q.Add(1000*ms, 80*ms)
	var given int64
	for i := range int64(400) {
		w := wait{of: &thread{}}
		w.cpu, w.StartNs, w.DurationNs = int32(i%4), 2*i*ms, 2*ms
		given += q.give(w, w.StartNs)
	}
	if n := len(q.stops[0].given); given != 80*ms || n != 40 {
		t.Errorf("%d ns in %d waits, want 80 ms in 40 of 2 ms", given, n)
	}
}

// Stops that no wait can be given any more are forgotten.
func TestStopsAreForgotten(t *testing.T) {
	w := newQuotaWorld(map[int]string{1: "/work"}, "/work")
	for second := range int64(100) {
		w.wait(1, 0, second*1000+20, second*1000+100)
		w.nowNs = second*1000*ms + 105*ms
		w.stop("/work", 80*(second+1))
		w.watch.read(true)
		w.a.Settle()
	}
	if n := len(w.a.threads[1].quotas[0].stops); n > 2 {
		t.Errorf("%d stops are kept", n)
	}
	w.ends(t, map[int32]int64{1: 8000})
}

// On a machine with SMT off, every second CPU is missing in /proc/stat. The steal time of the CPUs after
// the first gap was left out.
func TestStealOfCPUsAfterAGap(t *testing.T) {
	root := fstest.MapFS{"proc/stat": {Data: []byte("cpu  0 0 0 0 0 0 0 60 0 0\ncpu0 0 0 0 0 0 0 0 10 0 0\ncpu2 0 0 0 0 0 0 0 20 0 0\ncpu4 0 0 0 0 0 0 0 30 0 0\nintr 5\n")}}
	if got, want := stolenOf(root), map[int32]int64{0: 100e6, 2: 200e6, 4: 300e6}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// live is a tree of control groups in which reading some files fails.
type live struct {
	tree  fs.FS
	fails map[string]error
}

func (l live) Open(name string) (fs.File, error) {
	if err := l.fails[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return l.tree.Open(name)
}

// A group within the requested one may end while it is read, or hold threads only.
func TestProcessesOfALiveGroup(t *testing.T) {
	groups := fstest.MapFS{"cgroup.procs": {Data: []byte("1\n")}, "a/cgroup.procs": {Data: []byte("2\n")}, "b/cgroup.procs": {Data: []byte("3\n")}}
	for _, c := range []struct {
		fails map[string]error
		want  []int32 // nil if it fails
		says  string
	}{
		{nil, []int32{1, 2, 3}, ""},
		{map[string]error{"a": fs.ErrNotExist}, []int32{1, 3}, ""},
		{map[string]error{"a/cgroup.procs": fs.ErrNotExist}, []int32{1, 3}, ""},
		{map[string]error{"a/cgroup.procs": syscall.ENODEV}, []int32{1, 3}, ""},
		{map[string]error{"a/cgroup.procs": syscall.EOPNOTSUPP}, []int32{1, 3}, ""},
		{map[string]error{".": fs.ErrNotExist}, nil, "not exist"},
		{map[string]error{"cgroup.procs": syscall.EOPNOTSUPP}, nil, "group of threads"},
		{map[string]error{"a/cgroup.procs": fs.ErrPermission}, nil, "permission"},
	} {
		found, err := processesIn(live{groups, c.fails})
		if got := slices.Sorted(maps.Keys(found)); c.want != nil && (err != nil || !slices.Equal(got, c.want)) ||
			c.want == nil && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v: %v, %v, want %v %q", c.fails, got, err, c.want, c.says)
		}
	}
	if _, err := ProcessesOf(t.TempDir() + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
