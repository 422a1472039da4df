package tracepoint

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"chronoscope/internal/perfring"
)

// source describes a tracepoint to record, and how its records become events.
type source struct {
	path   string // below the folder events of tracefs
	kind   Kind
	fields []string // the fields that the tracepoint must have
	// name is the Name of its events if no field holds it.
	name     string
	optional bool
	filter   string // an expression of the kernel's (Documentation/trace/events.rst); empty for all events
}

// scheduling lists the tracepoints that show what threads do and who wakes them.
var scheduling = []source{
	{path: "sched/sched_switch", kind: Switched, fields: []string{"prev_state", "next_pid", "next_comm"}},
	{path: "sched/sched_waking", kind: Waking, fields: []string{"pid", "target_cpu"}},
	{path: "sched/sched_wakeup_new", kind: Started, fields: []string{"pid", "target_cpu"}},
	{path: "sched/sched_migrate_task", kind: Migrated, fields: []string{"pid", "dest_cpu"}},
	{path: "irq/irq_handler_entry", kind: Interrupt, fields: []string{"irq", "name"}},
	{path: "irq/irq_handler_exit", kind: InterruptEnd, fields: []string{"irq"}},
	{path: "irq/softirq_entry", kind: Softirq, fields: []string{"vec"}},
	{path: "irq/softirq_exit", kind: SoftirqEnd, fields: []string{"vec"}},
	{path: "irq/softirq_raise", kind: Raised, fields: []string{"vec"}},
	{path: "timer/hrtimer_expire_entry", kind: TimerExpired},
}

// inMilliseconds and atAddress are filters for system calls with a time limit. inMilliseconds is
// for a limit in milliseconds, where 0 means not to wait and -1 to wait forever. atAddress is for
// a pointer to a limit, where NULL means to wait forever.
const inMilliseconds, atAddress = "%[1]s > 0 && %[1]s < 0x7fffffff", "%s != 0"

// timedFutex selects the operations of futex(2) that wait with a time limit: FUTEX_WAIT and
// FUTEX_WAIT_BITSET, private and shared, with either clock.
const timedFutex = "utime != 0 && (op == 0 || op == 128 || op == 9 || op == 137 || op == 265 || op == 393)"

// timedCalls lists the entries of system calls that wait with a time limit, their exits if the
// limit has passed, and the entries of calls that set other timers. Not every architecture has
// all of them.
var timedCalls = slices.Concat(
	timedCall("futex", timedFutex, "ret == -110"), // ETIMEDOUT
	timedCall("nanosleep", "", "ret == 0"),
	timedCall("clock_nanosleep", "", "ret == 0"),
	timedCall("epoll_wait", fmt.Sprintf(inMilliseconds, "timeout"), "ret == 0"),
	timedCall("epoll_pwait", fmt.Sprintf(inMilliseconds, "timeout"), "ret == 0"),
	timedCall("epoll_pwait2", fmt.Sprintf(atAddress, "timeout"), "ret == 0"),
	timedCall("poll", fmt.Sprintf(inMilliseconds, "timeout_msecs"), "ret == 0"),
	timedCall("ppoll", fmt.Sprintf(atAddress, "tsp"), "ret == 0"),
	timedCall("select", fmt.Sprintf(atAddress, "tvp"), "ret == 0"),
	timedCall("pselect6", fmt.Sprintf(atAddress, "tsp"), "ret == 0"),
	otherTimers("futex_wait", "futex_waitv", "timerfd_settime", "timer_settime", "setitimer", "alarm", "rt_sigtimedwait",
		"mq_timedsend", "mq_timedreceive", "recvmmsg", "io_getevents", "io_pgetevents", "semtimedop", "io_uring_setup"),
	[]source{{path: "syscalls/sys_enter_setsockopt", kind: OtherTimer, optional: true, filter: "optname == 20 || optname == 21 || optname == 66 || optname == 67"}}, // SO_RCVTIMEO and SO_SNDTIMEO, old and new
)

func otherTimers(names ...string) (all []source) {
	for _, name := range names {
		all = append(all, source{path: "syscalls/sys_enter_" + name, kind: OtherTimer, name: name, optional: true})
	}
	return all
}

func timedCall(name, timed, passed string) []source {
	return []source{
		{path: "syscalls/sys_enter_" + name, kind: TimedCall, name: name, optional: true, filter: timed},
		{path: "syscalls/sys_exit_" + name, kind: TimedOut, name: name, optional: true, filter: passed},
	}
}

// disturbances lists the tracepoints that show which thread or interrupt has a CPU. Not every
// architecture has the interrupt vectors.
var disturbances = append([]source{
	{path: "sched/sched_switch", kind: Switched, fields: []string{"prev_state", "next_pid", "next_comm"}},
	{path: "irq/irq_handler_entry", kind: Interrupt, fields: []string{"irq", "name"}},
	{path: "irq/irq_handler_exit", kind: InterruptEnd, fields: []string{"irq"}},
	{path: "irq/softirq_entry", kind: Softirq, fields: []string{"vec"}},
	{path: "irq/softirq_exit", kind: SoftirqEnd, fields: []string{"vec"}},
}, vectors("local_timer", "reschedule", "call_function", "call_function_single", "x86_platform_ipi", "thermal_apic", "threshold_apic", "deferred_error_apic", "error_apic", "spurious_apic")...)

// LocalTimer is the vector of a CPU's own timer.
const LocalTimer = "local_timer"

// vectors returns the entry and exit tracepoints of interrupts that the CPU itself raises.
// irq_work can't be one of them: the kernel refuses to sample its exit, because perf uses it
// itself.
func vectors(names ...string) (all []source) {
	for _, name := range names {
		all = append(all, source{path: "irq_vectors/" + name + "_entry", kind: Vector, name: name, optional: true},
			source{path: "irq_vectors/" + name + "_exit", kind: VectorEnd, name: name, optional: true})
	}
	return all
}

// commonFields lists the fields that every event has.
var commonFields = []string{"common_type", "common_flags", "common_pid"}

// flagInterrupt and flagSoftirq are bits of common_flags (include/linux/trace_events.h:
// TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ).
const flagInterrupt, flagSoftirq = 0x08, 0x10

// layout is a source with the positions of its fields in this kernel's records.
type layout struct {
	source
	flags, pid, value, other, name field
	names                          map[int64]string
}

// newLayout finds the fields of a source in the format that the kernel states.
func newLayout(s source, f format) (layout, error) {
	for _, name := range append(slices.Clone(commonFields), s.fields...) {
		if _, ok := f.fields[name]; !ok {
			return layout{}, fmt.Errorf("the event %s of this kernel has no field %s", s.path, name)
		}
	}
	at := func(i int) field {
		if i < len(s.fields) {
			return f.fields[s.fields[i]]
		}
		return field{}
	}
	l := layout{source: s, flags: f.fields["common_flags"], pid: f.fields["common_pid"], names: f.names}
	switch s.kind {
	case Switched:
		l.value, l.other, l.name = at(0), at(1), at(2)
	case Waking, Started, Migrated:
		l.other, l.value = at(0), at(1)
	default:
		l.value, l.name = at(0), at(1)
	}
	return l, nil
}

// decoder turns the kernel's records into events.
type decoder struct {
	layouts map[uint16]*layout
	typeAt  field // of common_type
	texts   map[string]string
	events  []Event
	lastNs  map[int]int64 // time of the last event of each CPU
	// own has the numbers of threads in the namespace of this process, by the machine's numbers, as far as events have
	// told them. It is nil if both are the same.
	own map[int32]int32
}

func newDecoder() *decoder {
	return &decoder{layouts: map[uint16]*layout{}, texts: map[string]string{}, lastNs: map[int]int64{}}
}

// add appends the events of raw, which are all of one CPU.
func (d *decoder) add(raw []byte, cpu int) {
	intact := perfring.Records(raw, func(kind uint32, misc uint16, body []byte) {
		if e, ok := d.event(kind, misc, body); ok {
			d.note(e, cpu)
		}
	})
	if !intact {
		d.note(Event{AtNs: d.lastNs[cpu], CPU: int32(cpu), Kind: Lost, Value: 1}, cpu)
	}
}

// note appends an event. A loss began right after the last event that was kept, so a Losing event
// with that time goes before a Lost event.
func (d *decoder) note(e Event, cpu int) {
	if e.Kind == Lost {
		d.events = append(d.events, Event{AtNs: d.lastNs[cpu], CPU: e.CPU, Kind: Losing})
	}
	d.events = append(d.events, e)
	d.lastNs[cpu] = e.AtNs
}

// idBytes is the length of process, thread, time and CPU. A sample begins with them; other
// records end with them.
const idBytes = 24

// event decodes a record. It returns false if the record is too short or of an unknown kind.
func (d *decoder) event(kind uint32, misc uint16, body []byte) (Event, bool) {
	if len(body) < idBytes {
		return Event{}, false
	}
	if kind == perfring.Sample {
		return d.sample(identified(body), body[idBytes:])
	}
	order := binary.NativeEndian
	e, body := identified(body[len(body)-idBytes:]), body[:len(body)-idBytes]
	switch {
	case kind == perfring.Lost:
		e.Kind, e.Value = Lost, int32(perfring.LostIn(body))
	case kind == perfring.Comm && len(body) >= 8:
		e.Kind, e.Name = Renamed, d.text(untilNUL(body[8:]))
		if misc&perfring.CommExec != 0 {
			e.Kind = Executed
		}
	case kind == perfring.Fork && len(body) >= 16:
		e.Kind, e.Value, e.Other = Forked, int32(order.Uint32(body)), int32(order.Uint32(body[8:]))
	case kind == perfring.Exit:
		e.Kind = Exited
	default:
		return Event{}, false
	}
	if d.own != nil && e.Thread == 0 && e.Kind < Losing { // the idle thread does none of this
		e.Thread = Foreign
	}
	return e, true
}

// identified returns an event with its process, thread, time and CPU.
func identified(id []byte) Event {
	order := binary.NativeEndian
	return Event{
		Process: int32(order.Uint32(id)), Thread: int32(order.Uint32(id[4:])),
		AtNs: int64(order.Uint64(id[8:])), CPU: int32(order.Uint32(id[16:])),
	}
}

// sample decodes a tracepoint's record: its length, then the fields that its format states.
func (d *decoder) sample(e Event, body []byte) (Event, bool) {
	if len(body) < 4 {
		return e, false
	}
	size := int(binary.NativeEndian.Uint32(body))
	if body = body[4:]; size < 0 || size > len(body) {
		return e, false
	}
	raw := body[:size]
	number, ok := d.typeAt.number(raw)
	l := d.layouts[uint16(number)]
	if !ok || l == nil {
		return e, false
	}
	current, ok := l.pid.number(raw)
	if ok && e.Thread < 0 { // perf has no number for a thread that has ended
		e.Process, e.Thread = 0, int32(current)
	}
	flags, _ := l.flags.number(raw)
	switch {
	case flags&flagInterrupt != 0:
		e.Context = InInterrupt
	case flags&flagSoftirq != 0:
		e.Context = InSoftirq
	}
	value, ok1 := l.value.number(raw)
	other, ok2 := l.other.number(raw)
	if !ok1 && l.value.size > 0 || !ok2 && l.other.size > 0 {
		return e, false
	}
	e.Kind, e.Other, e.Value, e.Name = l.kind, int32(other), int32(value), l.source.name
	if d.own != nil {
		d.renumber(&e, int32(current))
	}
	switch l.kind {
	case Switched:
		e.Value, e.Name = int32(stateOf(value, l.names)), d.text(l.name.bytes(raw))
	case Interrupt:
		e.Name = d.text(l.name.located(raw))
	case Softirq, SoftirqEnd, Raised:
		e.Value, e.Name = vectorOf(l.names[value]), l.names[value]
	}
	return e, true
}

// renumber replaces the machine's numbers by those of the namespace of this process. current is the machine's number of the
// thread that has the CPU. The sample has that thread's own number, 0 if it has none, and current if it has ended.
func (d *decoder) renumber(e *Event, current int32) {
	switch {
	case e.Process > 0:
		d.own[current] = e.Thread
	case e.Thread == 0: // another thread may have the number of one that has ended
		delete(d.own, current)
		e.Thread = d.numberOf(current)
	default:
		e.Thread = d.numberOf(current)
		delete(d.own, current)
	}
	e.Other = d.numberOf(e.Other)
}

// numberOf returns the number of a thread in the namespace of this process, by the machine's number; 0 for the idle thread.
func (d *decoder) numberOf(machine int32) int32 {
	if own, known := d.own[machine]; known || machine == 0 {
		return own
	}
	return Foreign
}

// stateOf returns the state that the bits of a switch's prev_state mean. words holds the kernel's
// letter for each bit. Without a known letter the thread was runnable.
func stateOf(bits int64, words map[int64]string) State {
	for bit := int64(1); bit <= bits && bit > 0; bit <<= 1 {
		if bits&bit == 0 {
			continue
		}
		switch words[bit] {
		case "S":
			return Sleeping
		case "D", "K", "W":
			return Uninterruptible
		case "T":
			return Stopped
		case "t":
			return Traced
		case "X", "Z", "x":
			return Ended
		case "I", "P":
			return Idle
		}
	}
	return Runnable
}

// vectorOf returns the vector for the kernel's name of deferred work.
func vectorOf(name string) int32 {
	switch name {
	case "TIMER", "HRTIMER":
		return TimerVector
	case "NET_TX", "NET_RX":
		return NetworkVector
	case "BLOCK", "IRQ_POLL":
		return BlockVector
	}
	return OtherVector
}

// text returns b as a string. Equal names share one string, because few names occur in many
// events.
func (d *decoder) text(b []byte) string {
	text, ok := d.texts[string(b)]
	if !ok {
		text = string(b)
		d.texts[text] = text
	}
	return text
}

// until removes and returns the events before a time, in order of time. Events of one CPU with
// the same time keep the order in which they were noted.
func (d *decoder) until(ns int64) []Event {
	slices.SortStableFunc(d.events, func(a, b Event) int { return cmp.Compare(a.AtNs, b.AtNs) })
	n, _ := slices.BinarySearchFunc(d.events, ns, func(e Event, ns int64) int { return cmp.Compare(e.AtNs, ns) })
	taken := slices.Clone(d.events[:n])
	d.events = append(d.events[:0], d.events[n:]...)
	return taken
}
