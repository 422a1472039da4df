package process

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// run starts the program on a thread that has no other children, so that it may wait
// for any, and that ends with it: then the kernel ends what is still traced by it.
func (c Command) run(ctx context.Context, files [3]*os.File) (r Run, err error) {
	done := make(chan struct{})
	go onThreadOfItsOwn(func() {
		defer close(done)
		r, err = c.start(ctx, files)
	})
	<-done
	return r, err
}

// onThreadOfItsOwn calls do on a thread that has no children and is not the first,
// and ends the thread. A thread that won't do is held until another one is found.
func onThreadOfItsOwn(do func()) {
	runtime.LockOSThread()
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WNOTHREAD|unix.WALL, nil)
	if err == unix.ECHILD && unix.Gettid() != unix.Getpid() {
		do()
		return
	}
	defer runtime.UnlockOSThread()
	found := make(chan struct{})
	go func() {
		defer close(found)
		onThreadOfItsOwn(do)
	}()
	<-found
}

// start starts the program and waits for it, traced if that can be.
func (c Command) start(ctx context.Context, files [3]*os.File) (Run, error) {
	var refused error = errUnasked
	if !c.Untraced {
		pid, err := c.fork(files, true)
		if err == nil {
			return (&tracer{leader: pid}).trace(ctx)
		}
		if !traceRefused(err) {
			return Run{}, err
		}
		refused = err
	}
	started := time.Now()
	pid, err := c.fork(files, false)
	if err != nil {
		return Run{}, err
	}
	return await(ctx, pid, started, refused)
}

var errUnasked = fmt.Errorf("tracing was not asked for")

// traceRefused tells a system that forbids tracing from a program that can't be
// started: both fail in the child.
func traceRefused(err error) bool {
	return unix.EPERM == rootCause(err) || unix.ENOSYS == rootCause(err)
}

func rootCause(err error) error {
	if e, ok := err.(*StartError); ok {
		return e.Err
	}
	return err
}

// fork starts the program; a traced one stops at its first instruction.
func (c Command) fork(files [3]*os.File, traced bool) (pid int, err error) {
	if len(c.CPUs) > 0 { // a child starts with its parent's
		before, err := machine.Affinity()
		if err != nil {
			return 0, err
		}
		if err := machine.SetAffinity(c.CPUs); err != nil {
			return 0, err
		}
		defer machine.SetAffinity(before)
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	pid, err = syscall.ForkExec(c.Path, append([]string{c.Path}, c.Args...), &syscall.ProcAttr{
		Dir: c.Dir, Env: env, Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		// Without a tracer the program has to end with its parent in another way.
		Sys: &syscall.SysProcAttr{Ptrace: traced, Setpgid: true, Pdeathsig: unix.SIGKILL},
	})
	runtime.KeepAlive(files)
	if err != nil {
		return 0, &StartError{Path: c.Path, Err: err}
	}
	return pid, nil
}

// killGroup ends all of the program's process group.
func killGroup(pid int) { unix.Kill(-pid, unix.SIGKILL) }

// ended notes what wait4(2) tells of a program that has ended.
func (r *Run) ended(status unix.WaitStatus, usage *unix.Rusage) {
	r.UserNs, r.SystemNs = usage.Utime.Nano(), usage.Stime.Nano()
	r.VoluntarySwitches, r.InvoluntarySwitches = int64(usage.Nvcsw), int64(usage.Nivcsw)
	r.MinorFaults, r.MajorFaults = int64(usage.Minflt), int64(usage.Majflt)
	r.ExitCode = status.ExitStatus()
	if status.Signaled() {
		r.ExitCode, r.Signal = -1, status.Signal()
	}
}
