package fidelity

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Parent and child talk in lines of JSON: an order and its answer, then requests,
// each answered with a sample. Inside the sandwich there are only two bytes, which
// take no memory: the child is ready to be stopped, and it was continued.
const (
	ready byte = '.'
	goOn  byte = '.'
)

// order says which clocks to read.
type order struct{ Counter, Reference orderedClock }

type orderedClock struct {
	Name       string
	TickNs     stats.Estimate
	AccuracyNs float64
}

func orderFor(s *Sampler) order {
	describe := func(c clock.Rated) orderedClock { return orderedClock{c.Name, c.TickNs, c.AccuracyNs} }
	return order{describe(s.Counter), describe(s.Reference)}
}

// request asks for a sample.
type request struct{ RequestedNs float64 }

// answer is to an order or a request.
type answer struct {
	Error  string
	Sample sentSample
}

// sentSample is a Sample on its way: without CounterNs, which follows from the
// ticks, and may be no number.
type sentSample struct {
	RequestedNs, ReferenceNs, PairingNs, ErrorNs, IdleNs float64
	CounterTicks                                         int64
	StartCPU, EndCPU                                     int
	Use                                                  machine.ThreadUse
	Counted                                              bool
}

func sent(s Sample) sentSample {
	return sentSample{
		RequestedNs: s.RequestedNs, ReferenceNs: s.ReferenceNs, PairingNs: s.PairingNs, ErrorNs: s.ErrorNs,
		IdleNs: s.IdleNs, CounterTicks: s.CounterTicks, StartCPU: s.StartCPU, EndCPU: s.EndCPU,
		Use: s.Use, Counted: s.Counted,
	}
}

func (s sentSample) sample() Sample {
	return Sample{
		RequestedNs: s.RequestedNs, ReferenceNs: s.ReferenceNs, PairingNs: s.PairingNs, ErrorNs: s.ErrorNs,
		IdleNs: s.IdleNs, CounterTicks: s.CounterTicks, StartCPU: s.StartCPU, EndCPU: s.EndCPU,
		Use: s.Use, Counted: s.Counted,
	}
}

// ServeChild is the child of the workload stop: it takes the sandwiches that its
// parent asks for on in, and answers on out. A program that offers the workload
// calls it, with its standard input and output, when it is started by the command
// given to [Workloads]. It returns when in ends.
func ServeChild(in io.Reader, out io.Writer) error {
	release, err := env.Hold()
	if err != nil {
		return err
	}
	defer release()
	served := &served{in: bufio.NewReader(in), out: out}
	defer served.close()
	err = served.orders()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// served is the child's side.
type served struct {
	in      *bufio.Reader
	out     io.Writer
	sampler *Sampler
	opened  []*clock.Clock
	thread  *machine.Thread
}

// orders takes the order, and then requests until there are no more.
func (c *served) orders() error {
	var o order
	if err := c.receive(&o); err != nil {
		return err
	}
	if err := c.open(o); err != nil {
		return c.send(answer{Error: err.Error()})
	}
	if err := c.send(answer{}); err != nil {
		return err
	}
	for {
		var r request
		if err := c.receive(&r); err != nil {
			return err
		}
		sample, err := c.take(r.RequestedNs)
		if err != nil {
			return err
		}
		if err := c.send(answer{Sample: sent(sample)}); err != nil {
			return err
		}
	}
}

// take is a sandwich around being stopped.
func (c *served) take(requestedNs float64) (Sample, error) {
	stopMe := []byte{ready}
	var wrote, read error
	sample := c.sampler.Take(requestedNs, func(float64) {
		_, wrote = c.out.Write(stopMe)
		_, read = c.in.ReadByte()
	})
	return sample, errors.Join(wrote, read)
}

// open opens the clocks, as this process's own.
func (c *served) open(o order) error {
	counter, err1 := c.rated(o.Counter)
	reference, err2 := c.rated(o.Reference)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	c.sampler = &Sampler{Counter: counter, Reference: reference}
	if thread, err := machine.OpenThread(); err == nil {
		c.thread, c.sampler.Look = thread, thread.Look
	}
	return nil
}

func (c *served) rated(o orderedClock) (clock.Rated, error) {
	opened, err := openAny(o.Name)
	if err != nil {
		return clock.Rated{}, err
	}
	c.opened = append(c.opened, opened)
	return clock.Rated{Clock: opened, TickNs: o.TickNs, AccuracyNs: o.AccuracyNs}, nil
}

// openAny opens a clock of this process, or an independent reference.
func openAny(name string) (*clock.Clock, error) {
	c, err := clock.Open(name)
	var unknown *clock.UnknownName
	if !errors.As(err, &unknown) {
		return c, err
	}
	found, _ := References(os.DirFS("/"), time.Second)
	for _, r := range found {
		if r.Name == name {
			c = r.Clock // open until this process ends
			continue
		}
		r.Close()
	}
	if c == nil {
		return nil, fmt.Errorf("a child can't read the clock %s", name)
	}
	return c, nil
}

func (c *served) close() {
	for _, opened := range c.opened {
		opened.Close()
	}
	if c.thread != nil {
		c.thread.Close()
	}
}

func (c *served) receive(message any) error {
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, message); err != nil {
		return fmt.Errorf("a parent's message %.80q: %w", line, err)
	}
	return nil
}

func (c *served) send(a answer) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = c.out.Write(append(line, '\n'))
	return err
}
