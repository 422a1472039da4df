package activity

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// The orders tell the partner what to do before it hands back.
const (
	returnAtOnce byte = iota
	sweepFirst
)

// switchingCPU returns the CPU named, or, if that is negative, the last CPU that the calling thread
// may use.
func switchingCPU(named int) (int, error) {
	if named >= 0 {
		return named, nil
	}
	allowed, err := machine.Affinity()
	if err != nil {
		return 0, err
	}
	return allowed[len(allowed)-1], nil
}

// pair is two threads on one CPU: the caller's, and a partner that waits for orders. They wake each
// other through pipes, whose ends are closed when a thread ends, so that neither ever waits for a
// thread that has ended.
//
// The system calls tell the Go runtime that they may block, as those of package unix do. Raw system
// calls would take about 0.1 µs less per switch. But a thread that waits in a raw call delays
// everything that has to stop all threads for a moment: the runtime waits for it, while the other
// thread is already stopped and can't hand back.
type pair struct {
	orders, answers, own pipe
	ended                chan partnerEnd
	thread               *machine.Thread // nil if the kernel has no counters
	before               machine.ThreadUse
	leave                func()
	trips                int
	order                [1]byte
}

// partnerEnd is what the partner reports when it ends.
type partnerEnd struct {
	counted *SwitchCount
	err     error
}

// openPair binds the calling goroutine's thread to the CPU and starts its partner there, which
// walks sweep when it is ordered to.
func openPair(cpu int, sweep workingSet) (*pair, error) {
	p := &pair{orders: noPipe, answers: noPipe, own: noPipe, ended: make(chan partnerEnd, 1)}
	for _, end := range []*pipe{&p.orders, &p.answers, &p.own} {
		if err := end.open(); err != nil {
			p.closeEnds()
			return nil, err
		}
	}
	leave, err := takeSeat(cpu)
	if err != nil {
		p.closeEnds()
		return nil, err
	}
	p.leave = leave
	ready := make(chan error)
	go func() { p.ended <- p.serve(cpu, sweep, ready) }()
	if err := <-ready; err != nil {
		p.close()
		return nil, err
	}
	p.thread, p.before = watchThread()
	return p, nil
}

// serve is the body of the partner: it hands back after each order, and releases everything it has
// when no more orders can come.
func (p *pair) serve(cpu int, sweep workingSet, ready chan<- error) partnerEnd {
	defer p.orders.closeRead()
	defer p.answers.closeWrite()
	leave, err := takeSeat(cpu)
	if err != nil {
		ready <- err
		return partnerEnd{}
	}
	defer leave()
	sweep.walk()
	thread, before := watchThread()
	ready <- nil
	err = p.obey(sweep)
	return partnerEnd{countSince(thread, before), err}
}

func (p *pair) obey(sweep workingSet) error {
	var order [1]byte
	for {
		err := p.orders.receive(order[:])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if order[0] == sweepFirst {
			sweep.walk()
		}
		if err := p.answers.send(order[:]); err != nil {
			return err
		}
	}
}

// trip gives an order to the partner and waits until it hands back.
func (p *pair) trip(order byte) error {
	p.trips++
	p.order[0] = order
	if err := p.orders.send(p.order[:]); err != nil {
		return err
	}
	return p.answers.receive(p.order[:])
}

// calls makes the system calls of a round trip, including the partner's, without any waiting.
func (p *pair) calls() error {
	for range 2 {
		if err := p.own.send(p.order[:]); err != nil {
			return err
		}
		if err := p.own.receive(p.order[:]); err != nil {
			return err
		}
	}
	return nil
}

// close ends the partner and gives the thread back the CPUs that it had before. It returns how many
// switches the kernel counted for both threads (nil if it does not count them), and the partner's
// error.
func (p *pair) close() (counted *SwitchCount, err error) {
	own := countSince(p.thread, p.before)
	p.orders.closeWrite()
	end := <-p.ended
	p.answers.closeRead()
	p.own.closeRead()
	p.own.closeWrite()
	p.leave()
	if own != nil && end.counted != nil {
		counted = &SwitchCount{own.Voluntary + end.counted.Voluntary, own.Involuntary + end.counted.Involuntary}
	}
	return counted, end.err
}

func (p *pair) closeEnds() {
	for _, end := range []*pipe{&p.orders, &p.answers, &p.own} {
		end.closeRead()
		end.closeWrite()
	}
}

// watchThread opens the kernel's counters of the calling thread. The thread is nil if there are
// none.
func watchThread() (*machine.Thread, machine.ThreadUse) {
	thread, err := machine.OpenThread()
	if err != nil {
		return nil, machine.ThreadUse{}
	}
	before, err := thread.Look()
	if err != nil {
		thread.Close()
		return nil, machine.ThreadUse{}
	}
	return thread, before
}

// countSince counts the switches of the calling thread since before, and closes its counters.
func countSince(thread *machine.Thread, before machine.ThreadUse) *SwitchCount {
	if thread == nil {
		return nil
	}
	defer thread.Close()
	now, err := thread.Look()
	if err != nil {
		return nil
	}
	use := now.Since(before)
	return &SwitchCount{use.VoluntarySwitches, use.InvoluntarySwitches}
}

// takeSeat binds the calling goroutine's thread to a CPU until leave is called. It asks for the
// policy SCHED_BATCH (sched(7)), so that a thread which it wakes does not preempt it. All
// hand-overs are then alike: one thread waits, and the other continues. If the kernel denies the
// policy, its counters show the additional switches.
func takeSeat(cpu int) (leave func(), err error) {
	restore, err := machine.Pin([]int{cpu})
	if err != nil {
		return nil, err
	}
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil || before.Policy != unix.SCHED_NORMAL {
		return func() { restore() }, nil
	}
	batch := *before
	batch.Policy = unix.SCHED_BATCH
	if err := unix.SchedSetAttr(0, &batch, 0); err != nil {
		return func() { restore() }, nil
	}
	return func() {
		if err := unix.SchedSetAttr(0, before, 0); err != nil {
			runtime.LockOSThread() // so that no other goroutine inherits the thread
		}
		restore()
	}, nil
}

// pipe holds the file descriptors of its two ends. A closed end is -1.
type pipe struct{ read, write int }

var noPipe = pipe{-1, -1}

func (p *pipe) open() error {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("switching: a pipe for two threads to wake each other: pipe2: %w; raise the limit on open files (ulimit -n)", err)
	}
	p.read, p.write = ends[0], ends[1]
	return nil
}

func (p *pipe) closeRead()  { closeEnd(&p.read) }
func (p *pipe) closeWrite() { closeEnd(&p.write) }

func closeEnd(end *int) {
	if *end >= 0 {
		unix.Close(*end)
		*end = -1
	}
}

func (p *pipe) send(b []byte) error {
	for {
		_, err := unix.Write(p.write, b)
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return fmt.Errorf("switching: waking the other thread: write: %w", err)
		}
	}
}

// receive waits for one byte. It returns [io.EOF] if the other end is closed.
func (p *pipe) receive(b []byte) error {
	for {
		n, err := unix.Read(p.read, b)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return fmt.Errorf("switching: waiting for the other thread: read: %w", err)
		case n == 0:
			return io.EOF
		default:
			return nil
		}
	}
}
