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

// Parent and child exchange lines of JSON: an order and its answer, then requests and their answers.
// Within a sandwich they exchange only two bytes, so that the child allocates no memory then: the
// child writes ready when it is to be stopped, and the parent writes goOn when it has continued the
// child.
const (
	ready byte = '.'
	goOn  byte = '.'
)

// order says which clocks the child is to read.
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

type request struct{ RequestedNs float64 }

// answer is the answer to an order or a request.
type answer struct {
	Error  string
	Sample sentSample
}

// sentSample is a Sample with all fields in JSON.
type sentSample struct {
	RequestedNs, ReferenceNs float64
	CounterTicks             int64
	CounterNs                stats.Float
	PairingNs, ErrorNs       float64
	StartCPU, EndCPU         int
	IdleNs                   float64
	Use                      machine.ThreadUse
	Counted                  bool
}

// ServeChild is the child process of the workload stop: it takes the sandwiches that its parent
// requests on in, and answers on out. A program that offers the workload calls ServeChild with its
// standard input and output when it is started by the command given to [Workloads]. ServeChild
// returns when in ends.
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

// served is the state of the child.
type served struct {
	in      *bufio.Reader
	out     io.Writer
	sampler *Sampler
	opened  []*clock.Clock
	thread  *machine.Thread
}

// orders reads the order, and then answers requests until there are no more.
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
		if err := c.send(answer{Sample: sentSample(sample)}); err != nil {
			return err
		}
	}
}

// take takes a sandwich during which the parent stops this process.
func (c *served) take(requestedNs float64) (Sample, error) {
	stopMe := []byte{ready}
	var wrote, read error
	sample := c.sampler.Take(requestedNs, func(float64) {
		_, wrote = c.out.Write(stopMe)
		_, read = c.in.ReadByte()
	})
	return sample, errors.Join(wrote, read, sample.failure())
}

// open opens the counter and the reference that the parent asks for.
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
	if _, unknown := errors.AsType[*clock.UnknownName](err); !unknown {
		return c, err
	}
	found, _ := References(os.DirFS("/"), time.Second)
	for _, r := range found {
		if r.Name == name {
			c = r.Clock // it stays open until this process ends
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

func (c *served) send(a answer) error { return json.NewEncoder(c.out).Encode(a) }
