//go:build linux && (amd64 || arm64)

package clock

import (
	"bytes"
	"debug/elf"
	"os"
	"os/signal"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Each clock that is read through the vDSO lies within two readings of the same
// clock through the system call.
func TestVDSOAndSystemCallAgree(t *testing.T) {
	v, err := kernelVDSO()
	if err != nil {
		t.Skip(err)
	}
	for name, p := range posixClocks {
		direct, fast := gettimeBySyscall(p.id), gettimeByVDSO(v.clockGettime, p.id)
		agreed := 0
		for range 100 {
			before, between, after := direct(), fast(), direct()
			if before <= between && between <= after {
				agreed++
			}
		}
		if agreed < 100 && !(p.Settable && agreed > 90) {
			t.Errorf("%s: %d of 100 readings lie within their sandwich", name, agreed)
		}
	}
}

func TestGettimeofdayAgreesWithRealtime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for name, unitNs := range map[string]int64{"gettimeofday": 1e3, "time": 1e9} {
		c, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if int64(c.UnitNs) != unitNs {
			t.Errorf("%s: a tick is %g ns", name, c.UnitNs)
		}
		coarse, err := Open("realtime-coarse")
		if err != nil {
			t.Skip(err)
		}
		// The coarse clock is behind by its own tick at most, 10 ms where
		// CONFIG_HZ is least; time(2) counts by the same tick.
		within := false
		for range 3 {
			low, reading, high := coarse.Read(), c.Read()*unitNs, gettimeBySyscall(unix.CLOCK_REALTIME)()
			within = within || low-unitNs < reading && reading <= high
		}
		if !within {
			t.Errorf("%s is not the calendar's time", name)
		}
	}
}

// Signals that arrive while C code of the vDSO runs must find their goroutine:
// a handler that doesn't ends the process.
func TestVDSOCallsStandSignals(t *testing.T) {
	v, err := kernelVDSO()
	if err != nil {
		t.Skip(err)
	}
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, unix.SIGUSR1, unix.SIGURG)
	defer signal.Stop(arrived)
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
				callClockGettime(v.clockGettime, unix.CLOCK_MONOTONIC)
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

// A goroutine on a small stack has it grown before C code runs on it.
func TestVDSOCallsFromManySmallStacks(t *testing.T) {
	v, err := kernelVDSO()
	if err != nil {
		t.Skip(err)
	}
	const goroutines = 200
	good := make(chan bool)
	for range goroutines {
		go func() {
			canary := [64]int{63: 4711}
			seconds, nanoseconds := callClockGettime(v.clockGettime, unix.CLOCK_MONOTONIC)
			good <- canary[63] == 4711 && seconds >= 0 && nanoseconds >= 0 && nanoseconds < 1e9
		}()
	}
	for range goroutines {
		if !<-good {
			t.Error("a call spoilt its stack, or gave no time")
		}
	}
}

func TestAgreeRefusesAVDSOThatReadsSomethingElse(t *testing.T) {
	now := int64(0)
	direct := func() int64 { now++; return now }
	if !agree(direct, direct) {
		t.Error("a clock does not agree with itself")
	}
	if agree(direct, func() int64 { return now + 1000 }) || agree(direct, func() int64 { return 0 }) {
		t.Error("clocks a thousand ticks apart agree")
	}
}

// The kernel's own image, against its section headers as Go's debug/elf reads
// them. They lie behind what is loaded, in the image's last page.
func TestSymbolsOfThisKernelsVDSO(t *testing.T) {
	base, err := vdsoAddress()
	if err != nil {
		t.Skip(err)
	}
	loaded, err := vdsoImage(base)
	if err != nil {
		t.Fatal(err)
	}
	pages := (len(loaded) + 4095) &^ 4095
	whole, err := copyMemory(base, pages)
	if err != nil {
		t.Skip(err)
	}
	file, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Skip("the section headers are elsewhere: ", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Skip("no section of symbols: ", err)
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		if got, err := image(loaded).symbol(s.Name); err != nil || got != s.Value {
			t.Errorf("%s is at %#x, %v; want %#x", s.Name, got, err, s.Value)
		}
	}
}

func TestCopyMemory(t *testing.T) {
	if _, err := copyMemory(0, 8); err == nil {
		t.Error("the page at address 0 can be read")
	}
	want := make([]byte, 10_000)
	for i := range want {
		want[i] = byte(i ^ i>>8)
	}
	got, err := copyMemory(uintptr(unsafe.Pointer(&want[0])), len(want))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the copy differs, %v", err)
	}
	runtime.KeepAlive(want)
}
