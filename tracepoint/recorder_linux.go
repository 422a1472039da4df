package tracepoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/internal/perfring"
	"chronoscope/machine"
)

// Recorder records the tracepoints of CPUs.
type Recorder struct {
	rings   []*perfring.Ring
	cpus    []int // of the rings
	others  []int // descriptors of events that write into a ring of another
	decoder *decoder
	raw     []byte
	lost    int64
}

// Sizes of a CPU's buffer in pages. The amount of memory that may be locked is limited
// (perf_event_mlock_kb) for all users but root: where it does not suffice, smaller buffers are tried.
// Beside builds and servers 100,000 events a second and CPU were seen, of 100 bytes each, while the
// reader waits for a CPU like everyone else: 16 MB last for more than a second.
const mostPages, fewestPages = 4096, 16

// allPages is the largest number of pages of all buffers together.
const allPages = 16384

// pagesOfEach is the largest size of each buffer, a power of two.
func pagesOfEach(cpus int) int {
	pages := mostPages
	for pages > fewestPages && pages*cpus > allPages {
		pages /= 2
	}
	return pages
}

// rights says what lets a user record tracepoints.
const rights = "run as root, or give the program the rights: sudo setcap cap_perfmon,cap_dac_read_search=ep PROGRAM"

// Open begins to record what threads do and who wakes them on all CPUs of the machine. The error is an
// [*Unavailable].
func Open() (*Recorder, error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, unavailable(err)
	}
	return open(scheduling, cpus)
}

// OpenWithTimedCalls starts the recording that Open starts, and adds system calls that wait until
// some time, if this kernel reports them.
func OpenWithTimedCalls() (*Recorder, error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, unavailable(err)
	}
	return open(slices.Concat(scheduling, timedCalls), cpus)
}

// OpenDisturbances begins to record what has these CPUs: threads and interrupts. The error is an
// [*Unavailable].
func OpenDisturbances(cpus []int) (*Recorder, error) { return open(disturbances, cpus) }

func open(sources []source, cpus []int) (*Recorder, error) {
	decoder, err := describe(sources)
	if err != nil {
		return nil, err
	}
	for pages := pagesOfEach(len(cpus)); ; pages /= 2 {
		r := &Recorder{decoder: decoder}
		err := r.open(cpus, pages)
		if err == nil {
			return r, nil
		}
		r.Close()
		if pages <= fewestPages || !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOMEM) {
			return nil, unavailable(err)
		}
	}
}

// unavailable explains what perf_event_open answered.
func unavailable(err error) *Unavailable {
	u := &Unavailable{Reason: Refused, Detail: err.Error()}
	if errors.Is(err, fs.ErrPermission) {
		u.Reason, u.Remedy = PermissionDenied, rights+"; a container's seccomp profile may forbid it as well"
	}
	return u
}

// describe reads from tracefs what the running kernel states of the sources.
func describe(sources []source) (*decoder, error) {
	tracefs, err := openTracefs()
	if err != nil {
		return nil, err
	}
	defer unix.Close(tracefs)
	d := newDecoder()
	for _, s := range sources {
		l, f, err := s.describe(tracefs)
		if u := (*Unavailable)(nil); s.optional && errors.As(err, &u) && u.Reason == NoEvent {
			continue
		}
		if err != nil {
			return nil, err
		}
		d.layouts[f.id], d.typeAt = &l, f.fields["common_type"]
	}
	return d, nil
}

// describe reads a source's format.
func (s source) describe(tracefs int) (layout, format, error) {
	name := path.Join("events", s.path, "format")
	text, err := readAt(tracefs, name)
	if err != nil {
		u := &Unavailable{Reason: NoEvent, Detail: fmt.Sprintf("reading %s of tracefs: %v", name, err), Remedy: "this kernel has no such event"}
		if errors.Is(err, fs.ErrPermission) {
			u.Reason, u.Remedy = PermissionDenied, rights
		}
		return layout{}, format{}, u
	}
	f, err := parseFormat(text)
	if err != nil {
		return layout{}, f, &Unavailable{Reason: NoEvent, Detail: fmt.Sprintf("%s of tracefs can't be read: %v", name, err)}
	}
	l, err := newLayout(s, f)
	if err != nil {
		return l, f, &Unavailable{Reason: NoEvent, Detail: err.Error()}
	}
	return l, f, nil
}

// mostFormatBytes bounds what is read of a format: those of the kernel have 3,000 bytes at most.
const mostFormatBytes = 1 << 16

// readAt reads a file below a folder.
func readAt(folder int, name string) (string, error) {
	fd, err := unix.Openat(folder, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostFormatBytes))
	return string(text), err
}

// openTracefs opens the root of tracefs: where it is mounted, or a mount that only this process has,
// which ends with it.
func openTracefs() (int, error) {
	var denied error
	for _, folder := range append([]string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}, tracefsMounts()...) {
		fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			if err == unix.EACCES || err == unix.EPERM {
				denied = &os.PathError{Op: "open", Path: folder, Err: err}
			}
			continue
		}
		if unix.Faccessat(fd, "events", unix.F_OK, 0) == nil {
			return fd, nil
		}
		unix.Close(fd)
	}
	fd, err := mountTracefs()
	switch {
	case err == nil:
		return fd, nil
	case denied != nil:
		return -1, &Unavailable{Reason: PermissionDenied, Detail: denied.Error(), Remedy: rights}
	case errors.Is(err, fs.ErrPermission):
		return -1, &Unavailable{Reason: NoTracefs, Detail: fmt.Sprintf("tracefs is not mounted, and mounting it: %v", err),
			Remedy: "sudo mount -t tracefs tracefs /sys/kernel/tracing, and " + rights}
	}
	return -1, &Unavailable{Reason: NoTracefs, Detail: fmt.Sprintf("tracefs is not mounted, and mounting it: %v", err),
		Remedy: "it takes a kernel with CONFIG_FTRACE"}
}

// mountTracefs mounts tracefs at no place (fsmount(2)): nobody else sees it.
func mountTracefs() (int, error) {
	context, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("fsopen: %w", err)
	}
	defer unix.Close(context)
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, fmt.Errorf("fsconfig: %w", err)
	}
	fd, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return -1, fmt.Errorf("fsmount: %w", err)
	}
	return fd, nil
}

// tracefsMounts are other places where tracefs is mounted (proc_pid_mounts(5)).
func tracefsMounts() (folders []string) {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if part := strings.Fields(line); len(part) > 2 && part[2] == "tracefs" {
			folders = append(folders, part[1])
		}
	}
	return folders
}

// open opens all events on the CPUs: those of a CPU share one buffer.
func (r *Recorder) open(cpus []int, pages int) error {
	for _, cpu := range cpus {
		err := r.openCPU(cpu, pages)
		if err != nil && err != unix.ENODEV { // it has gone offline
			return fmt.Errorf("perf_event_open of tracepoints on CPU %d: %w", cpu, err)
		}
	}
	if len(r.rings) == 0 {
		return unix.ENODEV
	}
	return nil
}

// onlineCPUs are those of the machine, not those that this process may use.
func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	return machine.ParseCPUList(strings.TrimSpace(string(text)))
}

const (
	sampleType = unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_CPU
	attrBits   = unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark
)

func (r *Recorder) openCPU(cpu, pages int) error {
	names := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Sample_type: sampleType,
		Bits: attrBits | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask, Wakeup: uint32(pages * os.Getpagesize() / 2), Clockid: unix.CLOCK_MONOTONIC,
	}
	ring, err := perfring.Open(&names, -1, cpu, pages)
	if err != nil {
		return err
	}
	r.rings, r.cpus = append(r.rings, ring), append(r.cpus, cpu)
	for id, l := range r.decoder.layouts {
		attr := unix.PerfEventAttr{
			Type: unix.PERF_TYPE_TRACEPOINT, Config: uint64(id), Sample: 1, Sample_type: sampleType | unix.PERF_SAMPLE_RAW,
			Bits: attrBits, Wakeup: names.Wakeup, Clockid: unix.CLOCK_MONOTONIC, Size: names.Size,
		}
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return err
		}
		r.others = append(r.others, fd)
		if err := setFilter(fd, l.filter); err != nil {
			return err
		}
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, ring.FD); err != nil {
			return err
		}
	}
	return nil
}

// setFilter has the kernel record those events alone that fit; all where the filter is empty.
func setFilter(fd int, filter string) error {
	if filter == "" {
		return nil
	}
	text, err := unix.BytePtrFromString(filter)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_SET_FILTER, uintptr(unsafe.Pointer(text))); errno != 0 {
		return fmt.Errorf("the filter %q: %w", filter, errno)
	}
	return nil
}

// Close ends the recording.
func (r *Recorder) Close() {
	for _, fd := range r.others {
		unix.Close(fd)
	}
	for _, ring := range r.rings {
		ring.Close()
	}
	r.others, r.rings = nil, nil
}

// Lost is the number of events that the kernel has dropped so far.
func (r *Recorder) Lost() int64 { return r.lost }

// late is how long the kernel may take from when it notes the time of an event to when the event can
// be read, as where the host takes the CPU away in between.
const late = 20 * time.Millisecond

// Take takes the events that are complete, those of all CPUs in one order: what happened within the
// last moments comes with the next call.
func (r *Recorder) Take() []Event { return r.take(Now() - late.Nanoseconds()) }

// Drop forgets the events so far.
func (r *Recorder) Drop() {
	for _, ring := range r.rings {
		r.raw = ring.Take(r.raw[:0])
	}
	r.decoder.events = r.decoder.events[:0]
}

// TakeAll takes all events.
func (r *Recorder) TakeAll() []Event { return r.take(Now()) }

func (r *Recorder) take(until int64) []Event {
	for i, ring := range r.rings {
		r.raw = ring.Take(r.raw[:0])
		r.decoder.add(r.raw, r.cpus[i])
	}
	events := r.decoder.until(until)
	for _, e := range events {
		if e.Kind == Lost {
			r.lost += int64(e.Value)
		}
	}
	return events
}

// Wait returns when a buffer is half full, which it reports, or after d.
func (r *Recorder) Wait(d time.Duration) (full bool) {
	var polled []unix.PollFd
	for _, ring := range r.rings {
		polled = append(polled, unix.PollFd{Fd: int32(ring.FD), Events: unix.POLLIN})
	}
	n, err := unix.Poll(polled, int(d.Milliseconds()))
	return err == nil && n > 0
}

// Now is the time of events.
func Now() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return now.Nano()
}
