package clock

import (
	"os"
	"os/signal"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// The handlers of signals that arrive while C code of the vDSO runs must find their goroutine.
// A handler that does not find it ends the process.
func TestVDSOCallsStandSignals(t *testing.T) {
	v, err := kernelVDSO()
	if err != nil {
		t.Skip(err)
	}
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, unix.SIGUSR1, unix.SIGURG)
	defer signal.Stop(arrived)
	read := v.gettime(unix.CLOCK_MONOTONIC)
	stop, done := make(chan struct{}), make(chan struct{})
	thread := make(chan int)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- unix.Gettid()
		for {
			select {
			case <-stop:
				return
			default:
			}
			for range 1000 {
				read()
			}
		}
	}()
	id := <-thread
	seen := 0
	for i := range 3000 {
		unix.Tgkill(unix.Getpid(), id, []unix.Signal{unix.SIGUSR1, unix.SIGURG}[i%2])
		if i%100 == 0 {
			runtime.GC()
			time.Sleep(100 * time.Microsecond)
		}
		select {
		case <-arrived:
			seen++
		default:
		}
	}
	close(stop)
	<-done
	if seen == 0 {
		t.Error("no signal arrived: the test shows nothing")
	}
}

// The stack of a goroutine is grown, if it is small, before C code runs on it.
func TestVDSOCallsFromManySmallStacks(t *testing.T) {
	v, err := kernelVDSO()
	if err != nil {
		t.Skip(err)
	}
	const goroutines = 200
	read := v.gettime(unix.CLOCK_MONOTONIC)
	before := gettimeBySyscall(unix.CLOCK_MONOTONIC)()
	good := make(chan bool)
	for range goroutines {
		go func() {
			canary := [64]int{63: 4711}
			reading := read()
			good <- canary[63] == 4711 && reading >= before
		}()
	}
	for range goroutines {
		if !<-good {
			t.Error("a call spoilt its stack, or gave a time from before")
		}
	}
}

// A vDSO without clock_gettime is invalid; the other functions may be missing.
func TestVDSOClocks(t *testing.T) {
	if v, err := vdsoClocks(machine.VDSO{Functions: map[string]uint64{"__vdso_time": 8}}); err == nil {
		t.Errorf("%+v", v)
	}
	v, err := vdsoClocks(machine.VDSO{Functions: map[string]uint64{"__vdso_clock_gettime": 8}})
	if err != nil || v.gettime == nil || v.gettimeofday != nil || v.time != nil {
		t.Errorf("%+v, %v", v, err)
	}
}
