package offcpu

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"time"

	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// Options say what to record, and when to end.
type Options struct {
	Target
	Duration time.Duration
	// Until ends the recording when a thread was kept from running for at least this time; 0
	// disables that.
	Until time.Duration
	// Root is the root of the file system.
	Root fs.FS
}

// Recording is the result of [Record].
type Recording struct {
	Result
	// Late is the wait that reached Options.Until and so ended the recording; nil if none did.
	Late *Period
}

// drainEvery is the longest time between two reads of the kernel's event buffers.
const drainEvery = 50 * time.Millisecond

// settleEvery is the time between calls of [Analyser.Settle]. turnEvery is the time between calls of [Analyser.Turn],
// which forgets older periods, and is only called with Options.Until.
const settleEvery, turnEvery = time.Second, 5 * time.Second

// Record follows threads with the kernel's tracepoints until ctx ends or the duration has passed.
// It calls begin when the recording has started. The error is that of begin, or a
// [*tracepoint.Unavailable].
func Record(ctx context.Context, o Options, begin func() error) (Recording, error) {
	r, err := tracepoint.Open()
	if err != nil {
		return Recording{}, err
	}
	defer r.Close()
	startNs := tracepoint.Now()
	tasks := tracepoint.Tasks(o.Root)
	a := New(tasks, startNs, tracepoint.Now(), o.Target)
	a.WaitsIn = func(process, thread int32) string {
		return waitsIn(o.Root, path.Join("proc", strconv.Itoa(int(process)), "task", strconv.Itoa(int(thread))))
	}
	stolen, quota := stolenOf(o.Root), machine.OpenThrottlingOf(o.Root, o.member())
	read := func() {
		if ns := quota.StoppedNs(); !math.IsNaN(ns) {
			a.AddQuota(Quota{tracepoint.Now(), int64(ns)})
		}
	}
	read()
	if err := begin(); err != nil {
		return Recording{}, err
	}
	var late *Period
	end, settled, turned := time.Now().Add(o.Duration), time.Now(), time.Now()
	earlier := stolen // at the last but one turn
	for ctx.Err() == nil && time.Now().Before(end) && a.Alive() {
		r.Wait(max(0, min(drainEvery, time.Until(end))))
		a.Add(r.Take())
		read()
		if longest := a.Late(); o.Until > 0 && longest.DurationNs >= o.Until.Nanoseconds() {
			late = &longest
			break
		}
		if o.Until > 0 && time.Since(turned) >= turnEvery {
			a.Turn()
			earlier, stolen, turned = stolen, stolenOf(o.Root), time.Now()
		}
		if time.Since(settled) >= settleEvery {
			a.Settle()
			settled = time.Now()
		}
	}
	endNs := tracepoint.Now()
	a.Add(r.TakeAll())
	read()
	after := stolenOf(o.Root)
	for cpu := range after {
		after[cpu] = max(0, after[cpu]-earlier[cpu])
	}
	result := a.Result(endNs, after)
	if late != nil {
		result.find(late, a.lastNs-result.RecordedNs)
	}
	return Recording{result, late}, nil
}

// find sets the cause of a wait to that of its longest part in the result, whose recording began
// at startNs.
func (r Result) find(w *Period, startNs int64) {
	w.StartNs -= startNs
	most := int64(0)
	for _, p := range r.Periods {
		if p.Thread == w.Thread && p.StartNs >= w.StartNs && p.endNs() <= w.endNs() && p.DurationNs > most {
			most, w.Cause, w.Who = p.DurationNs, p.Cause, p.Who
		}
	}
}

// member returns the /proc folder of one process of the target, or of this process if the target
// has only a parent.
func (t Target) member() string {
	for process := range t.Processes {
		return strconv.Itoa(int(process))
	}
	return "self"
}

// stolenOf returns the steal time of each CPU so far, in nanoseconds.
func stolenOf(root fs.FS) map[int32]int64 {
	stolen := map[int32]int64{}
	for cpu := int32(0); ; cpu++ {
		t, err := machine.ReadCPUTimes(root, int(cpu))
		if err != nil {
			return stolen
		}
		stolen[cpu] = int64(t.StolenNs)
	}
}

// ProcessesOf returns the processes of a control group and of all groups within it. group is a
// folder.
func ProcessesOf(group string) (map[int32]bool, error) {
	all := map[int32]bool{}
	tree := os.DirFS(group)
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		addNumbers(all, text)
		return nil
	})
	return all, err
}
