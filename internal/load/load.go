package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"

	"chronoscope/env"
	"chronoscope/internal/group"
)

// Load is a number of competitors that run until Stop.
type Load struct {
	competitors []*competitor
}

// competitor is one competing process.
type competitor struct {
	command *exec.Cmd
	input   io.Closer // when it is closed, the process ends
	ended   chan struct{}
	asked   atomic.Bool // whether it was asked to end
}

// Start starts n competitors of a kind on cpus, or on all CPUs that this thread may use if cpus is empty.
// It returns when each of them has begun. They end when ctx ends.
//
// The error says how many could be started; those have been ended.
func Start(ctx context.Context, n int, kind Kind, cpus []int) (*Load, error) {
	return StartNice(ctx, n, kind, 0, cpus)
}

// StartNice does what [Start] does, and sets the niceness of the competitors; 0 leaves it as it is. The processes that
// competitors of the kind [Building] start don't have it.
func StartNice(ctx context.Context, n int, kind Kind, nice int, cpus []int) (*Load, error) {
	if _, err := ParseKind(string(kind)); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, fmt.Errorf("load: %d competitors: choose 0 or more", n)
	}
	release, err := env.Thread(cpus...) // children inherit the CPUs of the thread that starts them
	if err != nil {
		return nil, err
	}
	defer release()
	l := &Load{}
	for i := range n {
		c, err := startOne(ctx, fmt.Sprintf("%s %d %d", kind, i, nice))
		if err != nil {
			l.Stop()
			return nil, fmt.Errorf("load: %d of %d competitors were started, then: %w: choose fewer, or allow more processes (ulimit -u)", i, n, err)
		}
		l.competitors = append(l.competitors, c)
	}
	return l, nil
}

// Fill keeps each of these CPUs from being idle, with a competitor of the kind [Filling].
func Fill(ctx context.Context, cpus []int) (*Load, error) {
	all := &Load{}
	for _, cpu := range cpus {
		one, err := Start(ctx, 1, Filling, []int{cpu})
		if err != nil {
			all.Stop()
			return nil, err
		}
		all.competitors = append(all.competitors, one.competitors...)
	}
	return all, nil
}

func startOne(ctx context.Context, role string) (*competitor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// GOMAXPROCS is 2 because a second thread watches the pipe while the first one competes.
	command := exec.CommandContext(ctx, self)
	command.Env = append(os.Environ(), marker+"="+role, "GOMAXPROCS=2", "GOGC=off")
	group.Own(command) // so that it is paused and ended together with the processes that it starts
	var said bytes.Buffer
	command.Stderr = &said
	command.Cancel = func() error { group.End(command); return nil }
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &competitor{command: command, input: input, ended: make(chan struct{})}
	_, err = io.ReadFull(output, make([]byte, 1))
	go func() {
		defer close(c.ended)
		_ = command.Wait()
	}()
	if err != nil {
		c.stop()
		return nil, errors.Join(fmt.Errorf("a competitor ended before it began: %s", bytes.TrimSpace(said.Bytes())), ctx.Err())
	}
	return c, nil
}

func (c *competitor) stop() {
	if c.asked.Swap(true) {
		return
	}
	_ = c.input.Close()
	select {
	case <-c.ended:
	default:
		group.End(c.command)
		<-c.ended
	}
}

// Lost returns how many competitors ended before they were stopped. If there are any, the CPUs were less
// busy than they should have been.
func (l *Load) Lost() int {
	n := 0
	for _, c := range l.competitors {
		select {
		case <-c.ended:
			if !c.asked.Load() {
				n++
			}
		default:
		}
	}
	return n
}

// Stop ends all competitors, and returns when they have ended. It may be called twice.
func (l *Load) Stop() {
	var all sync.WaitGroup
	for _, c := range l.competitors {
		all.Go(c.stop)
	}
	all.Wait()
}
