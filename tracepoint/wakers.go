package tracepoint

// WakeSource is what kind of thing wakes a thread.
type WakeSource uint8

// The sources.
const (
	ByInterrupt WakeSource = iota // an interrupt or deferred work of which no more is known
	ByThread
	ByTimer
	ByDevice
	ByNetwork
)

// Waker is who or what wakes a thread.
type Waker struct {
	Source WakeSource
	// Process and Thread are those of ByThread. A thread that sends packets to this machine wakes their
	// receiver.
	Process, Thread int32
	// Interrupt and Name are those of a device.
	Interrupt int32
	Name      string
}

// Wakers follows by events what each CPU does beside its thread, and so who or what wakes threads.
type Wakers struct{ cpus map[int32]*handling }

// NewWakers knows of nothing yet.
func NewWakers() *Wakers { return &Wakers{map[int32]*handling{}} }

// handling is what a CPU does beside its thread.
type handling struct {
	device    *Waker // whose handler runs
	timerNs   int64  // when a timer expired last
	handlerNs int64  // when a device's handler began last
	vector    int32
	// raisedBy has had network packets delivered, where raised.
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

// Note takes the next event; kinds that tell nothing of wakers are passed over.
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

// raise notes who has network packets delivered: a thread that sends to this machine, or a device.
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

// Forget drops what is known, since events were lost.
func (w *Wakers) Forget() { clear(w.cpus) }

// Of is who or what wakes a thread by an event of the kind Waking.
func (w *Wakers) Of(e Event) Waker {
	c := w.cpu(e.CPU)
	const since = 1e6 // a handler wakes within this time of its timer
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
