package validate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"chronoscope/machine"
	"chronoscope/stats"
)

// marker is an environment variable. Its value decides what this program becomes: a number makes it
// a program that does that number of rounds of the chain and ends, and any other value a lab.
const (
	marker  = "CHRONOSCOPE_VALIDATE"
	serving = "lab"
)

// Serve turns this process into a lab, or a program of known length, if it was started as one, and then
// does not return. Otherwise it does nothing. Call it first in main, and in TestMain.
func Serve() {
	role, ok := os.LookupEnv(marker)
	if !ok {
		return
	}
	var err error
	switch {
	case role == serving:
		err = serve(os.Stdin, os.Stdout)
	default:
		if rounds, err := strconv.Atoi(role); err == nil {
			Chain.do(rounds)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// opening is the first message to a lab: what it will measure, and where.
type opening struct {
	Works   []Work
	CPU     int
	Regime  Regime
	TickHz  float64 // of the kernel's tick
	Virtual bool
	Seed    uint64
}

// order asks for the stream of a cell, or, if Rounds is not 0, for the time that Rounds rounds of
// the chain take now.
type order struct {
	Cell   Cell
	Rounds int
}

// reply answers an opening or an order.
type reply struct {
	Error    string
	Stream   *Stream
	RoundNs  float64 // of the chain; set in the answer to an opening
	Expected stats.Estimate
}

// serve runs a lab: it reads an opening and orders from in, and writes replies to out. It returns when
// in ends, even in the middle of a stream, since then the process that asked for the stream has ended.
func serve(in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	var o opening
	if err := decoder.Decode(&o); err != nil {
		return fmt.Errorf("validate: the opening: %w", err)
	}
	orders := make(chan order)
	ended := make(chan error, 1)
	go func() {
		for {
			var next order
			if err := decoder.Decode(&next); err != nil {
				cancel()
				close(orders)
				return
			}
			orders <- next
		}
	}()
	go func() { ended <- work(ctx, o, orders, encoder) }()
	select {
	case <-ctx.Done():
		return nil // unfinished work ends with the process
	case err := <-ended:
		return err
	}
}

// work opens the lab and carries out orders until the channel is closed.
func work(ctx context.Context, o opening, orders <-chan order, encoder *json.Encoder) error {
	l, release, err := openLab(ctx, o)
	if err != nil {
		return encoder.Encode(reply{Error: err.Error()})
	}
	defer release()
	if err := encoder.Encode(reply{RoundNs: l.references[Chain].fit.RoundNs}); err != nil {
		return err
	}
	for next := range orders {
		if err := encoder.Encode(l.obey(ctx, next)); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) obey(ctx context.Context, o order) (r reply) {
	if o.Rounds > 0 {
		return reply{Expected: l.levels(o.Rounds)}
	}
	var err error
	if r.Stream, err = l.stream(ctx, o.Cell); err != nil {
		r.Error = err.Error()
	}
	return r
}

// manyLevels is the number of levels, each of mostBatches batches, from which the truth of a
// program is derived.
const manyLevels = 16

// levels measures how long rounds of the chain take now.
func (l *lab) levels(rounds int) stats.Estimate {
	ref := l.references[Chain]
	times, levels := make([]float64, mostBatches), []level{}
	for range manyLevels {
		levels = append(levels, ref.level(times))
	}
	return expected(levels, rounds, ref.fit)
}

// child is a process that runs this program in another role.
type child struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  io.Reader
}

// startChild starts a process with all its threads on one CPU: it inherits the affinity of the thread that starts it. Its
// standard input and output are pipes.
func startChild(cpu int, command *exec.Cmd) (*child, error) {
	restore, err := machine.Pin([]int{cpu})
	if err != nil {
		return nil, err
	}
	c := &child{command: command}
	c.command.Stderr = os.Stderr
	c.input, err = c.command.StdinPipe()
	if err == nil {
		c.output, err = c.command.StdoutPipe()
	}
	if err == nil {
		err = c.command.Start()
	}
	if err = errors.Join(err, restore()); err != nil {
		if c.command.Process != nil {
			c.close()
		}
		return nil, err
	}
	return c, nil
}

func (c *child) close() {
	_ = c.input.Close()
	_ = c.command.Process.Kill()
	_ = c.command.Wait()
}

// session is the validating process's connection to a lab.
type session struct {
	*child
	encoder *json.Encoder
	decoder *json.Decoder
	roundNs float64 // of the chain
}

// openSession starts a lab on one CPU.
func openSession(ctx context.Context, cpu int, o opening) (*session, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self) // ends when ctx does
	command.Env = append(os.Environ(), marker+"="+serving)
	c, err := startChild(cpu, command)
	if err != nil {
		return nil, fmt.Errorf("validate: the process that measures could not be started: %w", err)
	}
	s := &session{child: c, encoder: json.NewEncoder(c.input), decoder: json.NewDecoder(c.output)}
	r, err := s.ask(ctx, o)
	if err != nil {
		s.close()
		return nil, err
	}
	s.roundNs = r.RoundNs
	return s, nil
}

// ask sends a question to the lab and reads the reply.
func (s *session) ask(ctx context.Context, question any) (r reply, err error) {
	err = s.encoder.Encode(question)
	if err == nil {
		err = s.decoder.Decode(&r)
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		return r, fmt.Errorf("validate: the process that measures ended: %w: start again, what is finished is kept", err)
	case r.Error != "":
		return r, errors.New(r.Error)
	}
	return r, nil
}

func (s *session) stream(ctx context.Context, c Cell) (*Stream, error) {
	r, err := s.ask(ctx, order{Cell: c})
	return r.Stream, err
}

func (s *session) levels(ctx context.Context, rounds int) (stats.Estimate, error) {
	r, err := s.ask(ctx, order{Rounds: rounds})
	return r.Expected, err
}
