package process

import (
	"context"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Launcher starts programs one after the other. It keeps the thread that starts them and the buffers for
// events, so that the cost of a start stays the same, and is less than that of [Command.Run]. Close gives them
// back.
//
// As long as there is a launcher, this process runs Go code on one CPU at a time (GOMAXPROCS is 1). Then the
// runtime takes the processor from the thread that waits for a program within 20 µs, and its monitor sleeps
// until the program's end. Otherwise the monitor wakes up some 60 times in the first 10 ms of each program.
type Launcher struct {
	jobs   chan func()
	thread atomic.Int64 // its number, once it runs
	tools  *tools       // nil until they are needed
}

// NewLauncher makes a launcher, with a thread of its own.
func NewLauncher() *Launcher {
	goCode.change(1, 0)
	l := &Launcher{jobs: make(chan func())}
	go onThreadOfItsOwn(func() {
		l.thread.Store(int64(unix.Gettid()))
		for job := range l.jobs {
			job()
		}
		if l.tools != nil {
			l.tools.close()
		}
	})
	return l
}

// Close ends the launcher's thread.
func (l *Launcher) Close() {
	close(l.jobs)
	goCode.change(-1, 0)
}

// Run does what [Command.Run] does. A program that is to be traced still gets a thread of its own: when that
// thread ends, the kernel kills what the program left behind.
func (l *Launcher) Run(ctx context.Context, c Command) (Run, error) {
	if !c.Untraced {
		return c.Run(ctx)
	}
	return c.between(ctx, func(c Command, files [3]*os.File) (r Run, err error) {
		if l.here() {
			return l.start(ctx, c, files)
		}
		l.On(func() { r, err = l.start(ctx, c, files) })
		return r, err
	})
}

// On calls do on the launcher's thread, and returns when do has returned. Run costs less if it is called from
// do: no thread has to be woken for it.
func (l *Launcher) On(do func()) {
	done := make(chan struct{})
	l.jobs <- func() {
		defer close(done)
		do()
	}
	<-done
}

// start starts the program. It has to be called on the launcher's thread.
func (l *Launcher) start(ctx context.Context, c Command, files [3]*os.File) (Run, error) {
	if l.tools == nil {
		l.tools = openTools()
	}
	return c.startWith(ctx, files, l.tools)
}

// here reports whether the caller runs on the launcher's thread, which runs nothing but jobs.
func (l *Launcher) here() bool { return l.thread.Load() == int64(unix.Gettid()) }
