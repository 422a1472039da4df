//go:build !linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// run starts the program, and returns what this system tells when it has ended.
func (c Command) run(ctx context.Context, files [3]*os.File) (Run, error) {
	if len(c.CPUs) > 0 {
		return Run{}, &StartError{Path: c.Path, Err: fmt.Errorf("a program can't be bound to CPUs on %s: leave that to the system", runtime.GOOS)}
	}
	if c.Nice != 0 {
		return Run{}, &PriorityError{Nice: c.Nice, Err: errors.New("it can't be given on " + runtime.GOOS)}
	}
	started := time.Now()
	p, err := os.StartProcess(c.Path, append([]string{c.Path}, c.Args...), &os.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files[:]})
	if err != nil {
		return Run{}, &StartError{Path: c.Path, Err: err}
	}
	stop := context.AfterFunc(ctx, func() { p.Kill() })
	defer stop()
	state, err := p.Wait()
	if err != nil {
		return Run{}, fmt.Errorf("waiting for process %d: %w", p.Pid, err)
	}
	return Run{
		WallNs: time.Since(started).Nanoseconds(), UserNs: state.UserTime().Nanoseconds(), SystemNs: state.SystemTime().Nanoseconds(),
		Unwatched: errors.New("switches between threads are not told on " + runtime.GOOS),
		Unnoted:   errors.New("system calls can't be looked at on " + runtime.GOOS),
		WaitOf:    NoThread, Untraced: errors.New("threads can't be followed to their exits on " + runtime.GOOS), ExitCode: state.ExitCode(),
	}, nil
}
