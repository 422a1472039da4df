package offcpu

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// Each thread is held against the quota of its own control group, also after its process has moved to
// another one. The quota of one arbitrary process once stood for all.
func TestQuotasOfSeveralGroups(t *testing.T) {
	const ms = 1_000_000
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	root := fstest.MapFS{"sys/fs/cgroup/work/cpu.stat": file("nr_throttled 0\nthrottled_usec 0\n"), "sys/fs/cgroup/pause/cpu.stat": file("nr_throttled 0\nthrottled_usec 0\n")}
	root["proc/self/mountinfo"] = file("31 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	for process, group := range map[string]string{"1": "/pause", "2": "/pause", "3": "/pause"} {
		root["proc/"+process+"/cgroup"] = file("0::" + group + "\n")
	}
	tasks := []tracepoint.Task{
		{Process: 1, Thread: 1, Name: "pause", CGroup: "/pause", State: tracepoint.Sleeping},
		{Process: 2, Thread: 2, Name: "work", CGroup: "/pause"}, {Process: 3, Thread: 3, Name: "rest", CGroup: "/pause"},
	}
	at := func(msec int64, cpu, from, to int32) tracepoint.Event {
		return tracepoint.Event{AtNs: msec * ms, CPU: cpu, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to}
	}
	a := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true, 2: true, 3: true}})
	root["proc/2/cgroup"] = file("0::/work\n")
	watch := throttles{root, map[string]*machine.Throttling{}}
	watch.regroup(a)
	watch.read(a, 0)
	// Both wait for 80 ms on CPUs that are idle. Only the group of process 2 was stopped.
	a.Add([]tracepoint.Event{at(20, 0, 2, 0), at(20, 1, 3, 0), at(100, 0, 0, 2), at(100, 1, 0, 3)})
	root["sys/fs/cgroup/work/cpu.stat"] = file("nr_throttled 1\nthrottled_usec 80000\n")
	watch.read(a, 105*ms)
	r := a.Result(110*ms, nil)
	for cause, want := range map[Cause]int64{Throttled: 80 * ms, WakeupLatency: 80 * ms} {
		if got := r.total(cause, nil); got != want {
			t.Errorf("%s: %d ns, want %d: %+v", cause, got, want, r.Parts)
		}
	}
	for _, p := range r.Worst {
		if (p.Process == 2) != (p.Cause == Throttled) {
			t.Errorf("%+v", p)
		}
	}
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
