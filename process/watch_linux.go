package process

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"chronoscope/internal/perfring"
	"chronoscope/machine"
)

// watch has the kernel note what the processes do that the calling thread starts. It uses a perf software event that
// counts nothing and leaves records of forks, execs, exits and context switches (perf_event_open(2)). It needs no
// hardware counters and no rights. Since an event that children inherit can't share a buffer between CPUs, there is one
// event for each CPU, and inheriting them takes each new thread time. With rights (CAP_PERFMON) the events are those of
// all threads of each CPU, and nothing is inherited.
type watch struct {
	mutex   sync.Mutex // guards what drain changes
	rings   []*perfring.Ring
	raw     []byte // scratch, for a record that wraps around
	records []record
	lost    int64
	inherit bool // threads inherit the events
}

// inheritNs is the time that it takes to start and end a thread that inherits the event of one CPU: a process took 24 µs
// more on a KVM guest with two CPUs (Intel Xeon, Linux 6.18), and a thread 16.
const inheritNs = 12e3

// Sizes of a buffer in pages. The largest is tried first. In a run that switched 30,000
// times a second, beside a load of 38, 32 pages were full before this command had a CPU to empty them. The
// memory that may be locked is limited (perf_event_mlock_kb) without rights. A buffer with the records of all
// threads of a CPU has pagesOfAll, and all of them together have at most pagesInAll.
const mostPages, fewestPages, pagesOfAll, pagesInAll = 128, 2, 512, 8192

// allThreads stands for all threads of a CPU in perf_event_open(2).
const allThreads = -1

// overrun says that other programs switched so often that records of all threads were lost.
var overrun atomic.Bool

// openWatch watches what the calling thread starts from now on: by the events of all threads if that is allowed and
// asked for. The calling goroutine has to be locked to its thread.
func openWatch(all bool) (*watch, error) {
	cpus, err := machine.Affinity()
	if err != nil {
		return nil, err
	}
	if all && !overrun.Load() {
		w, pages := &watch{}, pagesOfAll
		for pages > mostPages && pages*len(cpus) > pagesInAll {
			pages /= 2
		}
		if w.open(allThreads, cpus, pages) == nil {
			return w, nil
		}
		w.close()
	}
	return watchThread(0, cpus)
}

// watchThread watches a thread and all that it starts.
func watchThread(id int, cpus []int) (*watch, error) {
	var refused error
	for pages := mostPages; pages >= fewestPages; pages /= 2 {
		w := &watch{}
		if refused = w.open(id, cpus, pages); refused == nil {
			return w, nil
		}
		w.close()
		if !errors.Is(refused, unix.EPERM) && !errors.Is(refused, unix.ENOMEM) {
			break
		}
	}
	return nil, unwatched(refused)
}

// unwatched explains why the kernel does not note context switches.
func unwatched(refused error) error {
	help := "allow it with sysctl kernel.perf_event_paranoid=2, or in the container's seccomp profile"
	if errors.Is(refused, unix.ENODEV) || errors.Is(refused, unix.ENOSYS) {
		help = "this kernel has no such events, like that of a sandbox (gVisor), or the container's seccomp profile hides them: measure outside of it"
	}
	return fmt.Errorf("noting context switches by perf_event_open: %w: %s", refused, help)
}

func (w *watch) open(id int, cpus []int, pages int) error {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY,
		Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_CPU,
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitComm | unix.PerfBitCommExec |
			unix.PerfBitTask | unix.PerfBitContextSwitch | unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark,
		Wakeup: uint32(pages * os.Getpagesize() / 2), Clockid: unix.CLOCK_MONOTONIC,
	}
	if w.inherit = id != allThreads; w.inherit {
		attr.Bits |= unix.PerfBitInherit
	}
	for _, cpu := range cpus {
		ring, err := perfring.Open(&attr, id, cpu, pages)
		if err == unix.ENODEV { // it has gone offline
			continue
		}
		if err != nil {
			return err
		}
		w.rings = append(w.rings, ring)
	}
	if len(w.rings) == 0 {
		return unix.ENODEV
	}
	return nil
}

func (w *watch) close() {
	for _, ring := range w.rings {
		ring.Close()
	}
	w.rings = nil
}

// drain moves the kernel's records from its buffers to w.records.
func (w *watch) drain() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, ring := range w.rings {
		w.raw = ring.Take(w.raw[:0])
		var lost int64
		w.records, lost = parseRecords(w.records, w.raw)
		w.lost += lost
	}
}

// drainMeanwhile drains the buffers whenever one of them is half full, until stop is called: the tracer may wait for long.
func (w *watch) drainMeanwhile() (stop func()) {
	end, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return func() {}
	}
	polled := []unix.PollFd{{Fd: int32(end), Events: unix.POLLIN}}
	for _, ring := range w.rings {
		polled = append(polled, unix.PollFd{Fd: int32(ring.FD), Events: unix.POLLIN})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for polled[0].Revents == 0 {
			if _, err := unix.Poll(polled, -1); err != nil && err != unix.EINTR {
				return
			}
			w.drain()
		}
	}()
	return func() {
		unix.Write(end, binary.NativeEndian.AppendUint64(nil, 1))
		<-ended
		unix.Close(end)
	}
}

// begin discards all records.
func (w *watch) begin() {
	w.drain()
	w.records, w.lost = w.records[:0], 0
}

// take returns the events of a program since begin, in order of time, and the time of its exec. ended says that its last
// exit is when its thread ended, which is after the exit that the kernel notes (see eventsOf).
func (w *watch) take(leader int) (events []Event, execNs, lost int64, ended bool) {
	w.drain()
	slices.SortStableFunc(w.records, func(a, b record) int { return cmp.Compare(a.atNs, b.atNs) })
	events, execNs, ended = eventsOf(leader, w.records)
	lost = w.lost
	if lost > 0 && !w.inherit {
		overrun.Store(true)
	}
	w.begin()
	return events, execNs, lost, ended
}
