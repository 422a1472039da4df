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

// A goroutine on a small stack has it grown before C code runs on it.
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
