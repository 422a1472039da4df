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

// Options say what to record, and how long.
type Options struct {
	Target
	Duration time.Duration
	// Until ends the recording once a thread was kept from running for as long; 0 is never.
	Until time.Duration
	// Root is the root of the file system.
	Root fs.FS
}

// Recording is the result of Record.
type Recording struct {
	Result
	// Late is the wait that ended the recording before its duration; nil where none did.
	Late *Period
}

// drainEvery is how often events are taken out of the kernel's buffers.
const drainEvery = 50 * time.Millisecond

// settleEvery is how often what is known is put down, and turnEvery how long is kept at least where a
// recording waits for something to happen.
const settleEvery, turnEvery = time.Second, 5 * time.Second

// Record follows threads by the kernel's tracepoints until ctx ends or the duration has passed. begin is
// called when the recording has begun. The error is begin's, or a [tracepoint.Unavailable].
func Record(ctx context.Context, o Options, begin func() error) (Recording, error) {
	r, err := tracepoint.Open()
	if err != nil {
		return Recording{}, err
	}
	defer r.Close()
	startNs := tracepoint.Now()
	a := New(tracepoint.Tasks(o.Root), startNs, o.Target)
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
	earlier := stolen // at the turn before the last
	for ctx.Err() == nil && time.Now().Before(end) && a.Alive() {
		r.Wait(min(drainEvery, time.Until(end)))
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
		result.find(late, endNs-result.RecordedNs)
	}
	return Recording{result, late}, nil
}

// find completes a wait by what the result, which began at startNs, says of its longest part.
func (r Result) find(w *Period, startNs int64) {
	w.StartNs -= startNs
	most := int64(0)
	for _, p := range r.Periods {
		if p.Thread == w.Thread && p.StartNs >= w.StartNs && p.endNs() <= w.endNs() && p.DurationNs > most {
			most, w.Cause, w.Who = p.DurationNs, p.Cause, p.Who
		}
	}
}

// member is a process of the target, as a folder of /proc: this one for its children.
func (t Target) member() string {
	for process := range t.Processes {
		return strconv.Itoa(int(process))
	}
	return "self"
}

// stolenOf is what the host has taken of each CPU so far, in nanoseconds.
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

// ProcessesOf are the processes of a control group, which is a folder, and of the groups in it.
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
