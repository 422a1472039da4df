package offcpu

import (
	"io/fs"
	"maps"
	"math"
	"strconv"
	"time"

	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// quotaEvery is the time between readings of a quota that stops its group: the usual period of quotas. Other quotas are read
// when waits are settled, every settleEvery. recheckEvery is the time between looks for new quotas.
const quotaEvery, recheckEvery = 100 * time.Millisecond, 10 * time.Second

// throttles reads the CPU quotas of the control groups in which the target has threads.
type throttles struct {
	root   fs.FS
	now    func() int64     // the time of events
	groups map[string]Group // by name
	files  map[string]*quotaFile
}

// quotaFile is a cpu.stat file. Groups below it share it.
type quotaFile struct {
	Quota
	limited bool // the group has a quota
}

func watchThrottles(root fs.FS, now func() int64) *throttles {
	return &throttles{root, now, map[string]Group{}, map[string]*quotaFile{}}
}

// regroup finds the groups in which the target has threads now, and drops the others.
func (q *throttles) regroup(a *Analyser) {
	groups, used := map[string]Group{}, map[*Quota]bool{}
	a.Regroup(func(process int32) (Group, bool) {
		group, ok := q.groupOf(process)
		if ok {
			groups[group.Name] = group
		}
		return group, ok
	})
	for _, group := range groups {
		for _, quota := range group.Quotas {
			used[quota] = true
		}
	}
	q.groups = groups
	maps.DeleteFunc(q.files, func(_ string, f *quotaFile) bool { return !used[&f.Quota] })
}

// groupOf returns the group of a process, and false if that is not known.
func (q *throttles) groupOf(process int32) (Group, bool) {
	name, ok := tracepoint.GroupOf(q.root, process)
	group, known := q.groups[name]
	if !ok || known {
		return group, ok
	}
	group.Name = name
	for _, file := range machine.CPUStatsOf(q.root, strconv.Itoa(int(process))) {
		if q.files[file] == nil {
			q.files[file] = &quotaFile{limited: machine.HasQuota(q.root, file)}
			q.readFile(file)
		}
		group.Quotas = append(group.Quotas, &q.files[file].Quota)
	}
	if now, ok := tracepoint.GroupOf(q.root, process); !ok || now != name { // it has ended or moved meanwhile
		return Group{}, false
	}
	q.groups[name] = group
	return group, true
}

// recheck looks which groups have a quota.
func (q *throttles) recheck() {
	for name, f := range q.files {
		f.limited = machine.HasQuota(q.root, name)
	}
}

// read reads the quotas, or only those that have stopped their group lately.
func (q *throttles) read(all bool) {
	for name, f := range q.files {
		if f.limited && (all || f.grewNs > 0 && q.now()-f.grewNs < recheckEvery.Nanoseconds()) {
			q.readFile(name)
		}
	}
}

func (q *throttles) readFile(name string) {
	if ns := machine.StoppedNsIn(q.root, name); !math.IsNaN(ns) {
		q.files[name].Add(q.now(), int64(ns))
	}
}
