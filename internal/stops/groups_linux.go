package stops

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// groups are the process groups that are stopped and continued with this process.
var groups = struct {
	sync.Mutex
	all map[int]bool
}{all: map[int]bool{}}

// With has a program's process group stopped and continued with this process, if [PassOn] was called, until leave is
// called.
func With(group int) (leave func()) {
	groups.Lock()
	defer groups.Unlock()
	groups.all[group] = true
	return func() {
		groups.Lock()
		defer groups.Unlock()
		delete(groups.all, group)
	}
}

// PassOn lets Ctrl-Z (SIGTSTP) stop the groups of [With] as well: as groups of their own they would go on behind the
// shell's prompt. Where SIGTSTP is ignored it stays so.
func PassOn() { passOn() }

var passOn = sync.OnceFunc(func() {
	if signal.Ignored(syscall.SIGTSTP) {
		return
	}
	watch()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTSTP)
	go func() {
		for range stop {
			groups.Lock()
			signalAll(syscall.SIGSTOP)
			stopSelf()
			count() // before the programs go on: SIGCONT is delivered later, or never
			signalAll(syscall.SIGCONT)
			groups.Unlock()
		}
	}()
})

func signalAll(s syscall.Signal) {
	for group := range groups.all {
		syscall.Kill(-group, s) // may have ended
	}
}

// sigaction is that of the kernel; its zero value is the default (SIG_DFL).
type sigaction struct{ handler, flags, restorer, mask uint64 }

func setAction(s syscall.Signal, action, before *sigaction) {
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(before)), 8, 0, 0)
}

// stopSelf stops this process as SIGTSTP does by default, and returns when it was continued. Without a shell that could
// continue it, the system does not stop it. signal.Reset does not help: the runtime keeps its handler, which then ignores the
// signal.
func stopSelf() {
	var byDefault, ours sigaction
	setAction(syscall.SIGTSTP, &byDefault, &ours)
	w := Begin()
	syscall.Kill(os.Getpid(), syscall.SIGTSTP)
	for time.Since(w.begun) < mostDelay && continued.Load() == w.before {
		time.Sleep(time.Millisecond)
	}
	setAction(syscall.SIGTSTP, &ours, nil)
}
