package process

import (
	"cmp"
	"encoding/binary"
	"slices"

	"chronoscope/internal/perfring"
)

// record holds the fields of a record of perf_event_open(2) that are used here.
type record struct {
	atNs              int64
	kind              EventKind
	cpu               int
	process, tid      int
	parent, parentTID int
}

// idBytes is the length of the end of each record if sample_id_all is set: process, thread, time and CPU.
const idBytes = 24

// parseRecords appends the records in raw to records, and returns how many records were lost: those that the
// kernel could not keep, and those beyond mostEvents. It leaves out what it can't read; a record of an
// impossible length ends raw, and counts as one that is lost.
func parseRecords(records []record, raw []byte) (_ []record, lost int64) {
	intact := perfring.Records(raw, func(kind uint32, misc uint16, body []byte) {
		if kind == perfring.Lost {
			lost += perfring.LostIn(body)
		}
		r, ok := parseRecord(kind, misc, body)
		switch {
		case !ok:
		case len(records) >= mostEvents:
			lost++
		default:
			records = append(records, r)
		}
	})
	if !intact {
		lost++
	}
	return records, lost
}

// parseRecord reads a record of a kind that is used here.
func parseRecord(kind uint32, misc uint16, body []byte) (record, bool) {
	if len(body) < idBytes {
		return record{}, false
	}
	order := binary.NativeEndian
	id := body[len(body)-idBytes:]
	r := record{
		process: int(int32(order.Uint32(id))), tid: int(int32(order.Uint32(id[4:]))),
		atNs: int64(order.Uint64(id[8:])), cpu: int(int32(order.Uint32(id[16:]))),
	}
	isSwitch := kind == perfring.Switch || kind == perfring.SwitchOfCPU
	switch {
	case isSwitch && misc&perfring.SwitchOut == 0:
		r.kind = SwitchedIn
	case isSwitch && misc&perfring.SwitchOutPreempt != 0:
		r.kind = Preempted
	case isSwitch:
		r.kind = Blocked
	case kind == perfring.Comm && misc&perfring.CommExec != 0:
		r.kind = Executed
	case (kind == perfring.Fork || kind == perfring.Exit) && len(body) >= 24+idBytes:
		r.kind = Forked
		if kind == perfring.Exit {
			r.kind = Exited
		}
		r.process, r.parent = int(int32(order.Uint32(body))), int(int32(order.Uint32(body[4:])))
		r.tid, r.parentTID = int(int32(order.Uint32(body[8:]))), int(int32(order.Uint32(body[12:])))
	default:
		return record{}, false
	}
	return r, true
}

// eventsOf returns the events of a program in order of time, and the time of its exec, which is their time 0.
// They are the events of the thread leader and of all threads that it started, directly or not, until their
// exits. There are none if the leader's exec was not noted. Linux 6.16 and later note an exit before the thread gives
// back memory. So if a whole CPU was watched, the program's last exit is moved to its thread's last switch; ended says
// that this was noted.
func eventsOf(leader int, sorted []record) (events []Event, execNs int64, ended bool) {
	ours := map[int]bool{leader: true}
	found := false
	for _, r := range sorted {
		if r.kind == Executed && r.tid == leader {
			execNs, found = r.atNs, true
			break
		}
	}
	if !found {
		return nil, 0, false
	}
	events = make([]Event, 0, len(sorted))
	gone := map[int]bool{}          // threads whose exit was noted
	last, after := -1, []Event(nil) // the index of the program's last exit, and what its thread did then
	for _, r := range sorted {
		switch r.kind {
		case Forked: // maybe another program's thread, with the number of one that has ended
			if r.tid != leader {
				ours[r.tid] = ours[r.parentTID]
			}
			delete(gone, r.tid)
		case Executed: // maybe by another thread, which now has the number of the first one
			delete(gone, r.tid)
		}
		if !ours[r.tid] {
			continue
		}
		e := Event{AtNs: r.atNs - execNs, Kind: r.kind, CPU: r.cpu, Thread: r.tid, Process: r.process, Parent: r.parentTID}
		if gone[r.tid] {
			if last >= 0 && events[last].Thread == r.tid {
				after = append(after, e)
			}
			continue
		}
		if gone[r.tid] = r.kind == Exited; gone[r.tid] && r.process == leader {
			last, after = len(events), nil
		}
		events = append(events, e)
	}
	return endedAfter(events, last, after), execNs, len(after) > 0 && after[len(after)-1].Kind != SwitchedIn
}

// endedAfter returns the events with the exit at index last moved to the end of what its thread did after it.
func endedAfter(events []Event, last int, after []Event) []Event {
	if len(after) == 0 {
		return events
	}
	exit, final := events[last], after[len(after)-1]
	exit.AtNs, exit.CPU = final.AtNs, final.CPU
	if final.Kind != SwitchedIn { // for good
		after = after[:len(after)-1]
	}
	events = append(append(slices.Delete(events, last, last+1), after...), exit)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.AtNs, b.AtNs) })
	return events
}

// endOf returns the time at which the last thread of a process ended; 0 if that was not noted.
func endOf(pid int, events []Event) (atNs int64) {
	for _, e := range events {
		if e.Kind == Exited && e.Process == pid {
			atNs = e.AtNs
		}
	}
	return atNs
}
