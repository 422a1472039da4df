package offcpu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// Options say what to record, and when to end.
type Options struct {
	Target
	// Group is the folder of a control group: processes that are moved into it, or into a group within it, belong to the
	// target from when that is noticed. Empty for none.
	Group    string
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

// joinEvery is the least time between looks for processes that have been moved into Options.Group. Looks at a group with
// hundreds of others below it take longer, and come less often: joinShare is the largest share of the time for them.
const joinEvery, joinShare = 200 * time.Millisecond, 0.02

// members looks for the processes of a group, now and then.
type members struct {
	folder string // empty for no group
	next   time.Time
}

// now returns the processes that are in the group if it is time for a look; nil otherwise.
func (m *members) now() map[int32]bool {
	from := time.Now()
	if m.folder == "" || from.Before(m.next) {
		return nil
	}
	all, _ := ProcessesOf(m.folder) // the group may have ended
	took := time.Since(from)
	m.next = from.Add(max(joinEvery, time.Duration(float64(took)/joinShare)))
	return all
}

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
	a.WaitsIn = func(process, thread int32) (string, bool) {
		folder := path.Join("proc", strconv.Itoa(int(process)), "task", strconv.Itoa(int(thread)))
		stat, _ := fs.ReadFile(o.Root, path.Join(folder, "stat"))
		state, known := tracepoint.StateIn(stat)
		return waitsIn(o.Root, folder), !known || state != tracepoint.Runnable
	}
	stolen, watch := stolenOf(o.Root), watchThrottles(o.Root, tracepoint.Now)
	watch.regroup(a)
	if err := begin(); err != nil {
		return Recording{}, err
	}
	var late *Period
	begun := time.Now()
	end, settled, turned, read, checked := begun.Add(o.Duration), begun, begun, begun, begun
	group := members{folder: o.Group}
	earlier := stolen // at the last but one turn
	for ctx.Err() == nil && time.Now().Before(end) && a.Alive() {
		r.Wait(max(0, min(drainEvery, time.Until(end))))
		a.Add(r.Take())
		if all := group.now(); len(all) > 0 {
			a.Join(all)
		}
		a.RegroupNew(watch.groupOf)
		if time.Since(read) >= quotaEvery {
			watch.read(false)
			read = time.Now()
		}
		if longest := a.Late(); o.Until > 0 && longest.DurationNs >= o.Until.Nanoseconds() {
			late = &longest
			break
		}
		if o.Until > 0 && time.Since(turned) >= turnEvery {
			a.Turn()
			earlier, stolen, turned = stolen, stolenOf(o.Root), time.Now()
		}
		if time.Since(checked) >= recheckEvery {
			watch.recheck()
			checked = time.Now()
		}
		if time.Since(settled) >= settleEvery {
			watch.read(true)
			watch.regroup(a)
			a.Settle()
			settled = time.Now()
		}
	}
	endNs := tracepoint.Now()
	a.Add(r.TakeAll())
	watch.read(true)
	watch.regroup(a)
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

// stolenOf returns the steal time of each CPU so far, in nanoseconds.
func stolenOf(root fs.FS) map[int32]int64 {
	stolen := map[int32]int64{}
	text, _ := fs.ReadFile(root, "proc/stat")
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, " ")
		number, isCPU := strings.CutPrefix(name, "cpu")
		cpu, err := strconv.ParseInt(number, 10, 32)
		if !isCPU || err != nil {
			continue
		}
		if t, err := machine.ReadCPUTimes(root, int(cpu)); err == nil {
			stolen[int32(cpu)] = int64(t.StolenNs)
		}
	}
	return stolen
}

// ProcessesOf returns the processes of a control group and of all groups within it. group is a
// folder. Groups within it may end meanwhile.
func ProcessesOf(group string) (map[int32]bool, error) { return processesIn(os.DirFS(group)) }

const procs = "cgroup.procs"

func processesIn(tree fs.FS) (map[int32]bool, error) {
	all := map[int32]bool{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == procs {
			var text []byte
			if text, err = fs.ReadFile(tree, name); err == nil {
				addNumbers(all, text)
			}
		}
		switch {
		case name == "." || name == procs:
			return err
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV): // the group has ended
			return nil
		case errors.Is(err, syscall.EOPNOTSUPP): // a threaded group: its processes are listed above (cgroups(7))
			return nil
		}
		return err
	})
	if errors.Is(err, syscall.EOPNOTSUPP) {
		err = fmt.Errorf("it is a group of threads, whose processes belong to a group above it: %w", err)
	}
	return all, err
}
