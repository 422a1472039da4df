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

// Launcher starts programs one after the other.
type Launcher struct{}

// NewLauncher makes a launcher.
func NewLauncher() *Launcher { return &Launcher{} }

// Close does nothing on this system.
func (l *Launcher) Close() {}

// Run does what [Command.Run] does.
func (l *Launcher) Run(ctx context.Context, c Command) (Run, error) { return c.Run(ctx) }

// On calls do.
func (l *Launcher) On(do func()) { do() }

// Look returns an error: this system does not tell.
func Look(pid int) (Snapshot, error) {
	return Snapshot{}, fmt.Errorf("looking at process %d: %s does not tell: run the program from here instead", pid, runtime.GOOS)
}

// Others would watch how much of the CPUs other processes use. On this system nothing is known.
type Others struct{}

// OpenOthers returns an error: other processes can't be watched on this system.
func OpenOthers() (*Others, error) {
	return nil, errors.New("what other processes use is not known on this system")
}

// Look returns nothing: this system does not tell what other processes use.
func (o *Others) Look(int, []int) OthersUse { return OthersUse{} }

// AtNiceness returns an error: on this system a thread has no niceness of its own.
func AtNiceness(int, func()) error {
	return errors.New("this system has no niceness of a single thread")
}
