package process

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Launcher starts programs one after the other. What it costs to start one stays the same,
// and is less than that of [Command.Run], since the thread that does it and the buffers
// for events are kept. Close gives them back.
//
// As long as there is a launcher, this process runs Go code on one CPU at a time (GOMAXPROCS is 1): then
// the runtime takes the processor from the thread that waits for a program within 20 µs, and its monitor,
// which else wakes up some 60 times in the first 10 ms of each program, sleeps until the program's end.
type Launcher struct {
	jobs   chan func()
	thread atomic.Int64 // its number, once it serves
	tools  *tools       // once they are needed
}

// NewLauncher makes a launcher, with a thread of its own.
func NewLauncher() *Launcher {
	launchers.opened()
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
	launchers.closed()
}

// launchers are those that are open, and how many CPUs Go code ran on before the first one.
var launchers openLaunchers

type openLaunchers struct {
	sync.Mutex
	n, procs int
}

func (o *openLaunchers) opened() {
	o.Lock()
	defer o.Unlock()
	if o.n++; o.n == 1 {
		o.procs = runtime.GOMAXPROCS(1)
	}
}

func (o *openLaunchers) closed() {
	o.Lock()
	defer o.Unlock()
	if o.n--; o.n == 0 {
		runtime.GOMAXPROCS(o.procs)
	}
}

// Run does what [Command.Run] does. A program that is to be traced still gets a thread of
// its own, which ends with it and so takes along what is left behind.
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

// On calls do on the launcher's thread, and returns when it has. Run costs less from there:
// no thread has to be woken up for it.
func (l *Launcher) On(do func()) {
	done := make(chan struct{})
	l.jobs <- func() {
		defer close(done)
		do()
	}
	<-done
}

// start runs on the launcher's thread.
func (l *Launcher) start(ctx context.Context, c Command, files [3]*os.File) (Run, error) {
	if l.tools == nil {
		l.tools = openTools()
	}
	return c.startWith(ctx, files, l.tools)
}

// here tells whether the caller is on the launcher's thread, which runs nothing but jobs.
func (l *Launcher) here() bool { return l.thread.Load() == int64(unix.Gettid()) }
