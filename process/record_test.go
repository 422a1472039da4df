package process

import (
	"encoding/binary"
	"slices"
	"testing"
)

// headerBytes is the length of a record's type, flags and length.
const headerBytes = 8

// rawRecord is a record as the kernel writes it: type, flags, length, body, and what ends
// each (include/uapi/linux/perf_event.h).
func rawRecord(kind uint32, misc uint16, body []uint32, process, thread uint32, atNs uint64, cpu uint32) []byte {
	order := binary.NativeEndian
	var b []byte
	b = order.AppendUint32(b, kind)
	b = order.AppendUint16(b, misc)
	b = order.AppendUint16(b, uint16(headerBytes+4*len(body)+idBytes))
	for _, word := range body {
		b = order.AppendUint32(b, word)
	}
	b = order.AppendUint32(b, process)
	b = order.AppendUint32(b, thread)
	b = order.AppendUint64(b, atNs)
	b = order.AppendUint32(b, cpu)
	return order.AppendUint32(b, 0)
}

// A shell that was started by thread 10, becomes a program, starts a child that is
// preempted once, and ends; beside a stranger.
func storyOf() []byte {
	return slices.Concat(
		rawRecord(7, 0, []uint32{50, 1, 50, 10, 0, 0}, 1, 10, 900, 0),
		rawRecord(14, 0, nil, 50, 50, 950, 1),
		rawRecord(3, 1<<13, []uint32{50, 50, 0, 0}, 50, 50, 1000, 1),
		rawRecord(14, 0, nil, 77, 77, 1001, 0), // a stranger
		rawRecord(7, 0, []uint32{51, 50, 51, 50, 0, 0}, 50, 50, 1100, 1),
		rawRecord(14, 1<<13, nil, 50, 50, 1200, 1),
		rawRecord(14, 1<<13|1<<14, nil, 51, 51, 1300, 0),
		rawRecord(9, 0, []uint32{1, 2}, 51, 51, 1310, 0), // a sample, which is not used
		rawRecord(4, 0, []uint32{51, 50, 51, 50, 0, 0}, 51, 51, 1400, 0),
		rawRecord(4, 0, []uint32{50, 1, 50, 10, 0, 0}, 50, 50, 1500, 1),
		rawRecord(14, 1<<13|1<<14, nil, 50, 50, 1510, 1), // what follows only a watch of the whole CPU notes: it gives back memory
		rawRecord(14, 0, nil, 50, 50, 1530, 0),
		rawRecord(14, 1<<13, nil, 50, 50, 1560, 0),                     // its last switch
		rawRecord(7, 0, []uint32{51, 1, 51, 10, 0, 0}, 1, 10, 1600, 0), // a stranger gets the number of the child
		rawRecord(14, 0, nil, 51, 51, 1610, 0),
	)
}

func TestEventsOfRecords(t *testing.T) {
	records, lost := parseRecords(nil, storyOf())
	if lost != 0 {
		t.Errorf("%d were lost", lost)
	}
	got, execNs, ended := eventsOf(50, records)
	want := []Event{
		{AtNs: -100, Kind: Forked, CPU: 0, Thread: 50, Process: 50, Parent: 10},
		{AtNs: -50, Kind: SwitchedIn, CPU: 1, Thread: 50, Process: 50},
		{AtNs: 0, Kind: Executed, CPU: 1, Thread: 50, Process: 50},
		{AtNs: 100, Kind: Forked, CPU: 1, Thread: 51, Process: 51, Parent: 50},
		{AtNs: 200, Kind: Blocked, CPU: 1, Thread: 50, Process: 50},
		{AtNs: 300, Kind: Preempted, CPU: 0, Thread: 51, Process: 51},
		{AtNs: 400, Kind: Exited, CPU: 0, Thread: 51, Process: 51, Parent: 50},
		{AtNs: 510, Kind: Preempted, CPU: 1, Thread: 50, Process: 50},
		{AtNs: 530, Kind: SwitchedIn, CPU: 0, Thread: 50, Process: 50},
		{AtNs: 560, Kind: Exited, CPU: 0, Thread: 50, Process: 50, Parent: 10},
	}
	if !slices.Equal(got, want) || execNs != 1000 || !ended {
		t.Errorf("exec at %d\ngot  %+v\nwant %+v", execNs, got, want)
	}
	if end := endOf(50, got); end != 560 {
		t.Errorf("it ended at %d, not 560", end)
	}
	// Without its last switch, and without all that follows its exit.
	for dropped, endNs := range map[int]int64{3: 530, 5: 500} {
		if got, _, ended := eventsOf(50, records[:len(records)-dropped]); ended || endOf(50, got) != endNs {
			t.Errorf("without the last %d: it ended at %d, noted: %v; want %d", dropped, endOf(50, got), ended, endNs)
		}
	}
	if strange, _, _ := eventsOf(99, records); strange != nil {
		t.Errorf("a program that was not seen has events: %+v", strange)
	}
}

// What the kernel could not keep is said, and what can't be a record ends the reading.
func TestLostRecords(t *testing.T) {
	if _, lost := parseRecords(nil, rawRecord(2, 0, []uint32{1, 0, 12, 0}, 1, 1, 5, 0)); lost != 12 {
		t.Errorf("%d lost, want 12", lost)
	}
	broken := storyOf()
	binary.NativeEndian.PutUint16(broken[6:], 4) // shorter than its own header
	if records, lost := parseRecords(nil, broken); len(records) != 0 || lost != 1 {
		t.Errorf("%d records and %d lost of a broken one", len(records), lost)
	}
}

func FuzzParseRecords(f *testing.F) {
	f.Add(storyOf(), 50)
	f.Add([]byte{2, 0, 0, 0, 0, 0, 8, 0}, 1)
	f.Fuzz(func(t *testing.T, raw []byte, leader int) {
		records, lost := parseRecords(nil, raw)
		if lost < 0 || len(records) > len(raw)/(headerBytes+idBytes) {
			t.Errorf("%d records and %d lost of %d bytes", len(records), lost, len(raw))
		}
		if events, _, _ := eventsOf(leader, records); len(events) > len(records) {
			t.Errorf("%d events of %d records", len(events), len(records))
		}
	})
}
