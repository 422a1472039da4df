package tracepoint

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// switchFormat is the format of sched_switch in Linux 6.18, x86-64.
const switchFormat = `name: sched_switch
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;
	field:int next_prio;	offset:60;	size:4;	signed:1;

print fmt: "prev_comm=%s prev_state=%s%s ==> next_comm=%s", REC->prev_comm, __print_flags(REC->prev_state, "|", { 0x00000001, "S" }, { 0x00000002, "D" }, { 0x00000004, "T" }, { 0x00000008, "t" }, { 0x00000010, "X" }, { 0x00000020, "Z" }, { 0x00000040, "P" }, { 0x00000080, "I" }) : "R"
`

// handlerFormat is the format of irq_handler_entry.
const handlerFormat = `ID: 210
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
	field:int irq;	offset:8;	size:4;	signed:1;
	field:__data_loc char[] name;	offset:12;	size:4;	signed:0;
`

// simulated returns a decoder for these two events.
func simulated(t testing.TB) *decoder {
	d := newDecoder()
	for name, text := range map[string]string{"sched/sched_switch": switchFormat, "irq/irq_handler_entry": handlerFormat} {
		f, err := parseFormat(text)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(scheduling, func(s source) bool { return s.path == name })
		l, err := newLayout(scheduling[i], f)
		if err != nil {
			t.Fatal(err)
		}
		d.layouts[f.id], d.typeAt = &l, f.fields["common_type"]
	}
	return d
}

var order = binary.NativeEndian

func id(process, thread uint32, atNs uint64, cpu uint32) (b []byte) {
	b = order.AppendUint32(order.AppendUint32(b, process), thread)
	return order.AppendUint32(order.AppendUint32(order.AppendUint64(b, atNs), cpu), 0)
}

func rawRecord(kind uint32, misc uint16, body []byte) (b []byte) {
	b = order.AppendUint16(order.AppendUint16(order.AppendUint32(b, kind), misc), uint16(8+len(body)))
	return append(b, body...)
}

func rawSample(id, raw []byte) []byte {
	return rawRecord(9, 0, append(order.AppendUint32(id, uint32(len(raw))), raw...))
}

func rawSwitch(state uint64, next uint32, name string) []byte {
	raw := make([]byte, 64)
	order.PutUint16(raw, 372)
	order.PutUint64(raw[32:], state)
	copy(raw[40:56], name)
	order.PutUint32(raw[56:], next)
	return raw
}

func rawHandler(flags byte, number uint32, name string) []byte {
	raw := make([]byte, 16, 32)
	order.PutUint16(raw, 210)
	raw[2] = flags
	order.PutUint32(raw[8:], number)
	order.PutUint32(raw[12:], 16|uint32(len(name)+1)<<16)
	return append(append(raw, name...), 0)
}

func TestDecode(t *testing.T) {
	d := simulated(t)
	d.add(slices.Concat(
		rawSample(id(7, 8, 100, 1), rawSwitch(1, 9, "worker")),
		rawSample(id(0, 0, 110, 1), rawHandler(0x08, 36, "virtio1")),
		rawSample(id(9, 9, 120, 1), rawSwitch(0x200, 0, "swapper/1")), // preempted
		rawSample(id(9, 9, 130, 1), rawSwitch(0x4, 10, "a name of fifteen bytes")),
		rawRecord(3, 1<<13, slices.Concat(make([]byte, 8), []byte("sh\x00\x00\x00\x00\x00\x00"), id(10, 10, 140, 1))),
		rawRecord(7, 0, slices.Concat(order.AppendUint32(order.AppendUint32(order.AppendUint32(order.AppendUint32(nil, 11), 10), 12), 10), make([]byte, 8), id(10, 10, 150, 1))),
		rawRecord(2, 0, slices.Concat(order.AppendUint64(make([]byte, 8), 5), id(10, 10, 160, 1))),
		rawSample(id(1, 1, 170, 1), []byte{1, 2, 3}), // not an event
	), 1)
	want := []Event{
		{AtNs: 100, CPU: 1, Process: 7, Thread: 8, Other: 9, Value: int32(Sleeping), Kind: Switched, Name: "worker"},
		{AtNs: 110, CPU: 1, Value: 36, Kind: Interrupt, Context: InInterrupt, Name: "virtio1"},
		{AtNs: 120, CPU: 1, Process: 9, Thread: 9, Value: int32(Runnable), Kind: Switched, Name: "swapper/1"},
		{AtNs: 130, CPU: 1, Process: 9, Thread: 9, Other: 10, Value: int32(Stopped), Kind: Switched, Name: "a name of fiftee"},
		{AtNs: 140, CPU: 1, Process: 10, Thread: 10, Kind: Executed, Name: "sh"},
		{AtNs: 150, CPU: 1, Process: 10, Thread: 10, Other: 12, Value: 11, Kind: Forked},
		{AtNs: 150, CPU: 1, Kind: Losing},
		{AtNs: 160, CPU: 1, Process: 10, Thread: 10, Value: 5, Kind: Lost},
	}
	if !slices.Equal(d.events, want) {
		t.Errorf("got  %+v\nwant %+v", d.events, want)
	}
}

// of returns a tracepoint's record during which the thread with this number of the machine's had the CPU.
func of(machine uint32, raw []byte) []byte {
	order.PutUint32(raw[4:], machine)
	return raw
}

// In a namespace of process numbers, the thread 5 has the machine's number 905. Samples have the namespace's number, 0
// for a thread outside of it and -1 for one that has ended; the fields have the machine's. Once they were mixed.
func TestNumbersOfANamespace(t *testing.T) {
	const none, gone = 0, 1<<32 - 1
	d := simulated(t)
	d.own = map[int32]int32{}
	d.add(slices.Concat(
		rawSample(id(0, 0, 100, 1), of(0, rawSwitch(0, 905, "own"))), // not known yet
		rawSample(id(4, 5, 110, 1), of(905, rawHandler(0x08, 36, "virtio1"))),
		rawSample(id(4, 5, 120, 1), of(905, rawSwitch(0, 700, "other"))),
		rawSample(id(none, none, 130, 1), of(700, rawHandler(0x08, 36, "virtio1"))),
		rawRecord(3, 0, slices.Concat(make([]byte, 8), []byte("new\x00\x00\x00\x00\x00"), id(none, none, 140, 1))),
		rawSample(id(none, none, 150, 1), of(700, rawSwitch(0, 905, "own"))),
		rawSample(id(gone, gone, 160, 1), of(905, rawSwitch(0x10, 0, "swapper/1"))),
		rawSample(id(0, 0, 170, 1), of(0, rawSwitch(0, 905, "reused"))),
		rawRecord(2, 0, slices.Concat(order.AppendUint64(make([]byte, 8), 5), id(none, none, 180, 1))),
	), 1)
	want := []Event{
		{AtNs: 100, CPU: 1, Other: Foreign, Kind: Switched, Name: "own"},
		{AtNs: 110, CPU: 1, Process: 4, Thread: 5, Value: 36, Kind: Interrupt, Context: InInterrupt, Name: "virtio1"},
		{AtNs: 120, CPU: 1, Process: 4, Thread: 5, Other: Foreign, Kind: Switched, Name: "other"},
		{AtNs: 130, CPU: 1, Thread: Foreign, Value: 36, Kind: Interrupt, Context: InInterrupt, Name: "virtio1"},
		{AtNs: 140, CPU: 1, Thread: Foreign, Kind: Renamed, Name: "new"},
		{AtNs: 150, CPU: 1, Thread: Foreign, Other: 5, Kind: Switched, Name: "own"},
		{AtNs: 160, CPU: 1, Thread: 5, Value: int32(Ended), Kind: Switched, Name: "swapper/1"},
		{AtNs: 170, CPU: 1, Other: Foreign, Kind: Switched, Name: "reused"},
		{AtNs: 170, CPU: 1, Kind: Losing},
		{AtNs: 180, CPU: 1, Value: 5, Kind: Lost},
	}
	if !slices.Equal(d.events, want) {
		t.Errorf("got  %+v\nwant %+v", d.events, want)
	}
}

// The events of all CPUs are put in order of time. Events that are too recent stay for the next
// call.
func TestOrder(t *testing.T) {
	d := simulated(t)
	at := func(cpu int, ns ...uint64) {
		for _, at := range ns {
			d.add(rawSample(id(1, 1, at, uint32(cpu)), rawSwitch(0, 2, "")), cpu)
		}
	}
	at(0, 10, 30, 50)
	at(1, 20, 40, 60)
	var got []int64
	for _, until := range []int64{45, 45, 100} {
		for _, e := range d.until(until) {
			got = append(got, e.AtNs)
		}
		got = append(got, -1)
	}
	if want := []int64{10, 20, 30, 40, -1, -1, 50, 60, -1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// An event format that lacks a field is refused with the field's name. A text that is no format is
// refused.
func TestBadFormats(t *testing.T) {
	f, err := parseFormat(strings.Replace(switchFormat, "next_pid", "next_tid", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newLayout(scheduling[0], f); err == nil || !strings.Contains(err.Error(), "next_pid") {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"", "ID: x\n", "ID: 70000\n", "ID: 1\n\tfield:int x;\toffset:99999;\tsize:4;\n"} {
		if _, err := parseFormat(text); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(switchFormat, rawSwitch(1, 9, "x"))
	f.Add(handlerFormat, rawHandler(8, 1, "x"))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		format, err := parseFormat(text)
		if err != nil {
			return
		}
		for _, at := range format.fields {
			at.number(raw)
			at.located(raw)
			if got := at.bytes(raw); len(got) > len(raw) {
				t.Errorf("%d bytes of %d", len(got), len(raw))
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(rawSample(id(7, 8, 100, 1), rawSwitch(1, 9, "worker")))
	f.Add(rawSample(id(7, 8, 100, 1), rawHandler(8, 9, "disk")))
	f.Add(rawRecord(2, 0, id(1, 1, 1, 1)))
	f.Add([]byte{2, 0, 0, 0, 0, 0, 4, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := simulated(t)
		d.add(raw, 0)
		if n := len(d.events); n > 2+len(raw)/8 {
			t.Errorf("%d events of %d bytes", n, len(raw))
		}
	})
}

func TestTasks(t *testing.T) {
	rest := strings.Repeat(" 0", 28) + " 3 0"
	root := fstest.MapFS{
		"proc/12/cgroup":       {Data: []byte("9:name=systemd:/x\n1:cpu,cpuacct:/jobs/a\n0::/\n")},
		"proc/12/task/12/stat": {Data: []byte("12 (a) b) S 1 12 12 0 -1 4194560 7" + rest)},
		"proc/12/task/13/stat": {Data: []byte("13 (x\n) T 1 12 12 0 -1 4194560 7" + rest)},
		"proc/2/task/2/stat":   {Data: []byte("2 (kthreadd) S 0 0 0 0 -1 2129984 0" + rest)},
		"proc/9/task/9/stat":   {Data: []byte("9 (gone")},
		"proc/self/x":          {Data: []byte("")},
	}
	want := []Task{
		{Process: 12, Thread: 12, Parent: 1, Name: "a) b", State: Sleeping, CPU: 3, CGroup: "/jobs/a"},
		{Process: 12, Thread: 13, Parent: 1, Name: "x\n", State: Stopped, CPU: 3, CGroup: "/jobs/a"},
		{Process: 2, Thread: 2, Name: "kthreadd", State: Sleeping, CPU: 3, Kernel: true},
	}
	if got := Tasks(root); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if group := cpuGroup("0::/user.slice\n"); group != "/user.slice" {
		t.Errorf("%q", group)
	}
}
