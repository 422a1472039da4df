package activity

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"time"

	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// KernelEvents are the kernel's events on some CPUs while traces were recorded.
type KernelEvents struct {
	Events []tracepoint.Event
	Tasks  []tracepoint.Task // all that existed before or after the recording
	Lost   int64
	Full   bool // later events did not fit
}

// mostEvents is how many events are kept at most; they take some 300 MB.
const mostEvents = 4 << 20

// WatchKernel records the kernel's events on CPUs until stop is called. With keep it drops old
// events: a recording that waits for a gap ([Options.Until]) needs only those of its last seconds.
// The error is a [tracepoint.Unavailable].
func WatchKernel(cpus []int, keep bool, root fs.FS) (stop func() KernelEvents, err error) {
	r, err := tracepoint.OpenDisturbances(cpus)
	if err != nil {
		return nil, err
	}
	k := KernelEvents{Tasks: tracepoint.Tasks(root)}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	take := func(events []tracepoint.Event) {
		if keep {
			k.forget(len(events))
		}
		n := min(len(events), mostEvents-len(k.Events))
		k.Events, k.Full = append(k.Events, events[:n]...), k.Full || n < len(events)
	}
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			r.Wait(100 * time.Millisecond)
			take(r.Take())
		}
	}()
	return func() KernelEvents {
		end()
		<-done
		take(r.TakeAll())
		k.Lost = r.Lost()
		r.Close()
		k.Tasks = append(k.Tasks, tracepoint.Tasks(root)...)
		return k
	}, nil
}

// forget drops old events, down to those of the last 3 turnNs, if they are of more than twice that time. If there is no
// room for the given number of new ones, it drops the older half of all.
func (k *KernelEvents) forget(coming int) {
	n := len(k.Events)
	switch {
	case n == 0:
	case float64(k.Events[n-1].AtNs-k.Events[0].AtNs) > 6*turnNs:
		k.Events = append(k.Events[:0], after(k.Events, k.Events[n-1].AtNs-3*turnNs)...)
	case n+coming > mostEvents:
		k.Events = append(k.Events[:0], k.Events[n/2:]...)
	}
}

func after(events []tracepoint.Event, ns int64) []tracepoint.Event {
	i, _ := slices.BinarySearchFunc(events, ns, func(e tracepoint.Event, ns int64) int { return cmp.Compare(e.AtNs, ns) })
	return events[i:]
}

// stretch is a time in which something other than the trace's thread had its CPU.
type stretch struct {
	fromNs, toNs int64
	cause        Cause
	who          Culprit
	ours         bool // the stretch of another thread of this process
}

// stretches follows a CPU through its events and returns the stretches in which the thread self did not have
// it. An interrupt that comes while another thread has the CPU is part of that thread's stretch. obscure holds
// the stretches for which events are missing.
func (k KernelEvents) stretches(cpu int, self int32) (all, obscure []stretch) {
	names := k.culprits()
	var inside []stretch // interrupts that have begun but not ended
	var ended Cause      // of the latest interrupt that has ended
	var current int32 = -1
	var fromNs int64
	cut := func(atNs int64) {
		switch n := len(inside); {
		case atNs <= fromNs:
		case current >= 0 && current != self:
			who := names[current]
			all = append(all, stretch{fromNs, atNs, Preempted, who, who.Process != 0 && who.Process == names[self].Process})
		case n > 0:
			all = append(all, stretch{fromNs: fromNs, toNs: atNs, cause: inside[n-1].cause, who: inside[n-1].who})
		}
		fromNs = atNs
	}
	for _, e := range k.Events {
		if int(e.CPU) != cpu {
			continue
		}
		if e.Kind < tracepoint.Losing && e.Thread != current { // the first event, or one of a switch is missing
			// Some kernels, such as those of restored virtual machines, note nothing that a CPU's idle thread
			// does. If the idle thread had the CPU and self has it now, the switch in between was such an
			// event: no time is obscure.
			if current > 0 || current == 0 && e.Thread != self {
				obscure = append(obscure, stretch{fromNs: fromNs, toNs: e.AtNs})
			}
			current, fromNs, inside, ended = e.Thread, e.AtNs, nil, Unexplained
		}
		switch e.Kind {
		case tracepoint.Switched:
			cut(e.AtNs)
			if current, inside, ended = e.Other, nil, Unexplained; e.Other != 0 {
				who := names[e.Other]
				who.Name, who.Kind = e.Name, cmp.Or(who.Kind, "thread")
				if e.Other != tracepoint.Foreign {
					who.Thread = e.Other
				}
				names[e.Other] = who
			}
		case tracepoint.Interrupt, tracepoint.Softirq, tracepoint.Vector:
			cut(e.AtNs)
			inside = append(inside, began(e, ended))
		case tracepoint.InterruptEnd, tracepoint.SoftirqEnd, tracepoint.VectorEnd:
			cut(e.AtNs)
			if n := len(inside); n > 0 {
				inside, ended = inside[:n-1], inside[n-1].cause
			}
		case tracepoint.Losing:
			cut(e.AtNs)
			current, inside = -1, nil
		case tracepoint.Lost:
			obscure = append(obscure, stretch{fromNs: fromNs, toNs: e.AtNs})
			fromNs = e.AtNs
		}
	}
	return all, obscure
}

// tickSoftirqs are the softirqs that the timer interrupt raises for work of its own, such as that of timers and of
// read-copy-update (kernel/time/timer.c: update_process_times). The kernel serves them before it returns.
var tickSoftirqs = []string{"TIMER", "HRTIMER", "SCHED", "RCU"}

// began returns the stretch of an interrupt that begins with the event e. ended is the cause of the interrupt that ended
// just before it: a softirq of the timer tick belongs to the tick.
func began(e tracepoint.Event, ended Cause) stretch {
	s := stretch{cause: Interrupt, who: Culprit{Name: e.Name}}
	switch e.Kind {
	case tracepoint.Interrupt:
		s.who.Kind, s.who.Interrupt = "interrupt", e.Value
	case tracepoint.Softirq:
		s.who.Kind = "softirq"
		if ended == TimerTick && slices.Contains(tickSoftirqs, e.Name) {
			s.cause = TimerTick
		}
	default:
		s.who.Kind = "vector"
	}
	if e.Name == tracepoint.LocalTimer || machine.IsTimerAction(e.Name) {
		s.cause = TimerTick
	}
	return s
}

// culprits returns the threads by number.
func (k KernelEvents) culprits() map[int32]Culprit {
	all := map[int32]Culprit{0: {Name: "idle"}, tracepoint.Foreign: {Kind: "thread"}}
	for _, t := range k.Tasks {
		c := Culprit{Kind: "thread", Process: t.Process, Thread: t.Thread, Name: t.Name, CGroup: t.CGroup}
		if t.Kernel {
			c.Kind = "kernel-thread"
		}
		all[t.Thread] = c
	}
	for _, e := range k.Events {
		if _, known := all[e.Thread]; !known && e.Thread > 0 {
			all[e.Thread] = Culprit{Kind: "thread", Process: e.Process, Thread: e.Thread, Name: e.Name}
		}
	}
	return all
}
