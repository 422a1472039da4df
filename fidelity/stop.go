package fidelity

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// A process can't watch itself while it is stopped: another process would have to continue it, and a
// shell would treat the stopped program as one that the user has suspended. So a child process takes
// the sandwiches of this workload (see ServeChild), and this process stops and continues the child.

// childPatience is how much longer than requested a child may take.
const childPatience = 10 * time.Second

// child is a process that takes sandwiches, as its parent sees it.
type child struct {
	process  *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	problems bytes.Buffer // what it wrote to standard error; complete once it has ended
	end      func() error // ends the process and waits for it; further calls do nothing
}

// prepareStop starts the child and tells it which clocks to read.
func prepareStop(command func() *exec.Cmd) func(context.Context, *Sampler) (Task, error) {
	return func(ctx context.Context, s *Sampler) (Task, error) {
		if command == nil {
			err := errors.New("the process that is stopped has to be a child, and this program offers none")
			return Task{}, unavailable(Stop, clock.NotSupportedHere, err, "run it with the command chronoscope fidelity")
		}
		if err := canStop(); err != nil {
			return Task{}, err
		}
		c, err := startChild(ctx, command())
		if err != nil {
			return Task{}, unavailable(Stop, clock.Refused, err, "let the process start children")
		}
		if _, err := c.ask(orderFor(s), 0, nil); err != nil {
			return Task{}, unavailable(Stop, clock.Refused, err, "")
		}
		return Task{
			Take: func(requestedNs float64) (Sample, error) {
				sample, err := c.ask(request{requestedNs}, requestedNs, stopAndContinue)
				sample.CounterNs = stats.FloatOf(s.Counter.Ns(sample.CounterTicks))
				return sample, err
			},
			Close: c.end,
		}, nil
	}
}

// startChild starts the process. The process ends with the context at the latest, even if it is
// stopped or does not answer.
func startChild(ctx context.Context, command *exec.Cmd) (*child, error) {
	c := &child{process: command}
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	command.Stderr = &c.problems
	tieToParent(command)
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", command.Path, err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	forget := context.AfterFunc(ctx, c.kill)
	c.end = sync.OnceValue(func() error {
		forget()
		c.in.Close()
		defer time.AfterFunc(childPatience, c.kill).Stop()
		return command.Wait()
	})
	return c, nil
}

func (c *child) kill() { c.process.Process.Kill() }

// ask sends a message, stops the child when the child asks for it, and returns the child's answer.
// If ask returns an error, the child has ended.
func (c *child) ask(message any, stopNs float64, stop func(pid int, ns float64) error) (Sample, error) {
	defer time.AfterFunc(childPatience+time.Duration(stopNs), c.kill).Stop()
	sent := c.send(message)
	if sent == nil && stop != nil {
		sent = c.stopWhenReady(stopNs, stop)
	}
	sample, err := c.answer() // if the child ended early, its answer may say why
	if err = errors.Join(sent, err); err != nil {
		return Sample{}, c.failed(err)
	}
	return sample, nil
}

func (c *child) send(message any) error { return json.NewEncoder(c.in).Encode(message) }

func (c *child) stopWhenReady(ns float64, stop func(pid int, ns float64) error) error {
	if b, err := c.out.ReadByte(); err != nil {
		return err
	} else if b != ready {
		return fmt.Errorf("it says %q where it should be ready", b)
	}
	err := stop(c.process.Process.Pid, ns)
	_, wrote := c.in.Write([]byte{goOn})
	return errors.Join(err, wrote)
}

func (c *child) answer() (Sample, error) {
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return Sample{}, err
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return Sample{}, fmt.Errorf("it answers %.80q: %w", line, err)
	}
	if a.Error != "" {
		return Sample{}, errors.New(a.Error)
	}
	return Sample(a.Sample), nil
}

// failed ends the child and adds what it wrote to standard error to the error.
func (c *child) failed(err error) error {
	c.end()
	said := strings.TrimSpace(fmt.Sprintf("%.200s", c.problems.String()))
	if said != "" {
		said = " (it says: " + said + ")"
	}
	return fmt.Errorf("the child that is to be stopped, %s: %w%s", c.process.Path, err, said)
}
