package probe

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"chronoscope/internal/group"
)

// Limits says how long a probe may take.
type Limits struct {
	Hello  time.Duration // to start, to warm up and to introduce itself
	Answer time.Duration // for any other answer, in addition to the time for which the probe is asked to sleep
	Quit   time.Duration // to end when it is told to
}

// DefaultLimits are the limits in the documented protocol.
var DefaultLimits = Limits{Hello: 15 * time.Second, Answer: 10 * time.Second, Quit: time.Second}

// Error says what was wrong with a probe's answer, or why there was none.
type Error struct {
	Probe   string // how the probe was started
	Asked   string // the command that it had to answer
	Answer  string // the beginning of its answer; empty if there was none
	Problem string
	// Over says that the probe has ended; otherwise only this question has failed.
	Over bool
}

func (e *Error) Error() string {
	text := fmt.Sprintf("probe %q, asked %q: ", e.Probe, e.Asked)
	if e.Answer != "" {
		text += fmt.Sprintf("it answered %q: ", e.Answer)
	}
	return text + e.Problem
}

// errorAnswer is the first word of an answer that reports an error; unsupported is the answer to a
// question that the probe does not implement.
const (
	errorAnswer = "error"
	unsupported = "unsupported"
)

// session is a running probe.
type session struct {
	name    string
	command *exec.Cmd
	in      io.WriteCloser
	pipe    io.ReadCloser
	out     *bufio.Reader
	errors  *tail
	limits  Limits
	hold    func(*exec.Cmd) (end func()) // group.Hold

	mutex  sync.Mutex
	hungUp bool
	over   *Error // why the probe has ended; nil while it runs
}

// start starts a program in a process group of its own.
func start(args []string, limits Limits) (*session, error) {
	s := &session{name: strings.Join(args, " "), command: exec.Command(args[0], args[1:]...), errors: &tail{}, limits: limits, hold: group.Hold}
	s.command.Stderr = s.errors
	s.command.WaitDelay = limits.Quit // for processes that the probe left behind and that still hold its pipes
	group.Own(s.command)
	var err error
	if s.in, err = s.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("a pipe to the probe %q: %w", s.name, err)
	}
	if s.pipe, err = s.command.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("a pipe from the probe %q: %w", s.name, err)
	}
	s.out = bufio.NewReaderSize(s.pipe, 1<<16)
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the probe %q: %w: name a program that can be run, with its arguments", s.name, err)
	}
	return s, nil
}

// ask sends a command and returns the answer, whose length is limited to most bytes. The error is an
// [*Error] or that of ctx. If ctx has ended, the probe has ended too.
func (s *session) ask(ctx context.Context, command string, most int, limit time.Duration) (string, error) {
	if s.over != nil {
		return "", s.over
	}
	lost := func(answer, format string, args ...any) (string, error) {
		return "", s.lose(ctx, command, answer, fmt.Sprintf(format, args...))
	}
	if early := s.unasked(); len(early) > 0 {
		return lost(strings.TrimSpace(string(early)), "it said that before it was asked; each command gets one line, and nothing else may stand on standard output")
	}
	late := time.AfterFunc(limit, s.hangUp)
	defer late.Stop()
	defer context.AfterFunc(ctx, s.hangUp)()
	if _, err := io.WriteString(s.in, command+"\n"); err != nil {
		return lost("", "it no longer reads commands: %v", err)
	}
	line, err := readLine(s.out, most)
	switch {
	case err == nil:
	case errors.Is(err, errTooLong):
		return lost(line, "the answer is longer than the %d bytes that can be right", most)
	case !late.Stop():
		return lost(line, "it was given up on after %v without a whole line", limit)
	default:
		return lost(line, "it ended before it had answered")
	}
	if word, reason, _ := strings.Cut(line, " "); word == errorAnswer {
		return "", &Error{Probe: s.name, Asked: command, Problem: "it could not: " + excerpt(reason)}
	}
	if line == unsupported {
		return "", &Error{Probe: s.name, Asked: command, Problem: "the probe does not support it"}
	}
	return line, nil
}

// unasked returns, without waiting, what arrived after the last answer. If that stayed in the pipe, each
// answer would be mistaken for the answer to the next question.
func (s *session) unasked() []byte {
	if s.out.Buffered() == 0 && readable(s.pipe) {
		s.out.Peek(1)
	}
	early, _ := s.out.Peek(s.out.Buffered())
	return early
}

// lose ends the session because of a failed command, and returns the reason.
func (s *session) lose(ctx context.Context, command, answer, problem string) error {
	ended := s.stop(func() {})
	s.over = &Error{Probe: s.name, Asked: command, Answer: excerpt(answer), Problem: "the measurement was interrupted", Over: true}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.over.Problem = fmt.Sprintf("%s (%s)", problem, ended)
	if said := s.errors.last(); said != "" {
		s.over.Problem += fmt.Sprintf("; its standard error ends with %q", said)
	}
	return s.over
}

// wrong returns the error for an answer that can't be used.
func (s *session) wrong(command, answer string, err error) error {
	return &Error{Probe: s.name, Asked: command, Answer: excerpt(answer), Problem: err.Error()}
}

var errTooLong = errors.New("the line is too long")

// readLine reads a line whose length is limited to most bytes, and returns it without its end. With an
// error it returns what was read so far.
func readLine(r *bufio.Reader, most int) (string, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > most+2:
			return string(line[:most]), errTooLong
		case err == nil:
			return strings.TrimRight(string(line), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return string(line), err
		}
	}
}

// hangUp kills the probe's process group, and ends the wait for an answer. It does so only before the
// probe is reaped, because afterwards another process may have its process number.
func (s *session) hangUp() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.hungUp {
		s.hungUp = true
		endRest := s.hold(s.command)
		group.End(s.command)
		endRest()
		s.pipe.Close()
	}
}

// stop kills what remains of the group, calls endRest, reaps the probe, and returns how it ended.
func (s *session) stop(endRest func()) string {
	s.in.Close()
	s.hangUp()
	endRest()
	s.command.Wait()
	return s.command.ProcessState.String()
}

// quit asks the probe to end, and kills it if it does not.
func (s *session) quit() {
	if s.over != nil {
		return
	}
	s.over = &Error{Probe: s.name, Problem: "it was told to quit", Over: true}
	endRest := s.hold(s.command) // before the probe ends, and its processes have another parent
	late := time.AfterFunc(s.limits.Quit, s.hangUp)
	defer late.Stop()
	io.WriteString(s.in, "quit\n")
	s.in.Close()
	io.Copy(io.Discard, io.LimitReader(s.out, 1<<20)) // until the probe closes its end of the pipe
	s.stop(endRest)
}

// tail holds the end of what a probe writes to its standard error.
type tail struct {
	mutex sync.Mutex
	bytes []byte
}

const tailBytes = 2048

func (t *tail) Write(piece []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.bytes = append(t.bytes, piece[max(0, len(piece)-tailBytes):]...)
	t.bytes = append(t.bytes[:0], t.bytes[max(0, len(t.bytes)-tailBytes):]...)
	return len(piece), nil
}

// last returns the last line.
func (t *tail) last() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	text := bytes.TrimSpace(t.bytes)
	return excerpt(string(text[bytes.LastIndexByte(text, '\n')+1:]))
}
