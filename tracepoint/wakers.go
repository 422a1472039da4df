package tracepoint

// WakeSource is the kind of source that wakes a thread.
type WakeSource uint8

// The sources.
const (
	ByInterrupt WakeSource = iota // an interrupt, or deferred work, about which no more is known
	ByThread
	ByTimer
	ByDevice
	ByNetwork
)

// Waker identifies the source that wakes a thread.
type Waker struct {
	Source WakeSource
	// Process and Thread identify the thread, for ByThread. A thread that sends packets to this
	// machine counts as waking their receiver.
	Process, Thread int32
	// Interrupt and Name identify the device, for ByDevice and ByNetwork.
	Interrupt int32
	Name      string
}

// Wakers follows, event by event, what each CPU does besides running its thread, and so finds who or
// what wakes a thread.
type Wakers struct{ cpus map[int32]*handling }

// NewWakers returns Wakers that have seen no event.
func NewWakers() *Wakers { return &Wakers{map[int32]*handling{}} }

// handling is what a CPU does besides running its thread.
type handling struct {
	device    *Waker // the device whose handler is running; nil for none
	timerNs   int64  // when a timer expired last
	handlerNs int64  // when a device's handler began last
	vector    int32
	// raisedBy is the source of the network packets that wait for delivery; valid if raised is
	// set.
	raisedBy Waker
	raised   bool
}

func (w *Wakers) cpu(number int32) *handling {
	c := w.cpus[number]
	if c == nil {
		c = &handling{}
		w.cpus[number] = c
	}
	return c
}

// Note processes the next event; it ignores kinds that don't matter here.
func (w *Wakers) Note(e Event) {
	switch c := w.cpu(e.CPU); e.Kind {
	case Interrupt:
		c.device, c.handlerNs = &Waker{Source: ByDevice, Interrupt: e.Value, Name: e.Name}, e.AtNs
	case InterruptEnd:
		c.device = nil
	case TimerExpired:
		c.timerNs = e.AtNs
	case Softirq:
		c.vector = e.Value
	case SoftirqEnd:
		c.raised = c.raised && c.vector != NetworkVector
		c.vector = OtherVector
	case Raised:
		c.raise(e)
	}
}

// raise notes the source of network packets that are to be delivered: a thread that sends to this
// machine, or a device.
func (c *handling) raise(e Event) {
	if e.Value != NetworkVector || e.Context == InSoftirq {
		return
	}
	c.raised, c.raisedBy = true, Waker{}
	switch {
	case e.Context == InThread && e.Thread != 0:
		c.raisedBy = Waker{Source: ByThread, Process: e.Process, Thread: e.Thread}
	case c.device != nil:
		c.raisedBy = *c.device
	}
}

// Forget drops all state, since events were lost.
func (w *Wakers) Forget() { clear(w.cpus) }

// Of returns the source of the wake-up that an event of kind Waking reports.
func (w *Wakers) Of(e Event) Waker {
	c := w.cpu(e.CPU)
	const since = 1e6 // longest time from the expiry of a timer to the wake-up by its handler, in nanoseconds
	switch {
	case e.Context == InInterrupt && c.timerNs > c.handlerNs && e.AtNs-c.timerNs < since:
		return Waker{Source: ByTimer}
	case e.Context == InInterrupt && c.device != nil:
		return *c.device
	case e.Context == InSoftirq && c.vector == TimerVector:
		return Waker{Source: ByTimer}
	case e.Context == InSoftirq && c.vector == NetworkVector && c.raised && c.raisedBy.Source == ByThread:
		return c.raisedBy
	case e.Context == InSoftirq && c.vector == NetworkVector:
		return Waker{Source: ByNetwork, Interrupt: c.raisedBy.Interrupt, Name: c.raisedBy.Name}
	case e.Context == InSoftirq && c.vector == BlockVector:
		return Waker{Source: ByDevice, Name: "block device"}
	case e.Context == InThread && e.Thread != 0:
		return Waker{Source: ByThread, Process: e.Process, Thread: e.Thread}
	}
	return Waker{}
}
