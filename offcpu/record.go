package offcpu

import (
	"context"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"

	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// Options say what is recorded, and for how long.
type Options struct {
	Target
	Duration time.Duration
	// Until ends the recording once a thread was kept from running for as long; 0 is never.
	Until time.Duration
	// Root is that of the file system.
	Root fs.FS
}

// Recording is what Record has found.
type Recording struct {
	Result
	// Late is the time that ended the recording before its duration; 0 where none did.
	Late time.Duration
}

// drainEvery is how often events are taken out of the kernel's buffers.
const drainEvery = 50 * time.Millisecond

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
	var late time.Duration
	end := time.Now().Add(o.Duration)
	for ctx.Err() == nil && time.Now().Before(end) && a.Alive() {
		r.Wait(min(drainEvery, time.Until(end)))
		a.Add(r.Take())
		read()
		if longest := a.Late(); o.Until > 0 && longest >= o.Until {
			late = longest
			break
		}
	}
	endNs := tracepoint.Now()
	a.Add(r.TakeAll())
	read()
	after := stolenOf(o.Root)
	for cpu := range after {
		after[cpu] = max(0, after[cpu]-stolen[cpu])
	}
	return Recording{a.Result(endNs, after), late}, nil
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
