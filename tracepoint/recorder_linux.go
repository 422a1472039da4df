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
	cpus    []int // the CPU of each ring
	others  []int // file descriptors of events that write into one of the rings, and belong to the group that its event leads
	decoder *decoder
	raw     []byte
	lost    int64
}

// mostPages and fewestPages bound the size of a CPU's buffer, in pages. The kernel limits the
// memory that users other than root may lock (perf_event_mlock_kb), so Open also tries smaller
// buffers. With builds and servers running, there were 100,000 events of 100 bytes each per second
// and CPU. 16 MB hold more than a second of them, so that the reader may wait that long for a CPU.
const mostPages, fewestPages = 4096, 16

// allPages is the largest number of pages of all buffers together.
const allPages = 16384

// pagesOfEach returns the largest permitted size of each buffer, a power of two.
func pagesOfEach(cpus int) int {
	pages := mostPages
	for pages > fewestPages && pages*cpus > allPages {
		pages /= 2
	}
	return pages
}

// rights tells the user how to get the rights to record tracepoints.
const rights = "run as root, or give the program the rights: sudo setcap cap_perfmon,cap_dac_read_search=ep PROGRAM"

// Open starts to record what threads do and who wakes them, on all CPUs of the machine. The error
// is an [*Unavailable].
func Open() (*Recorder, error) { return openOnline(scheduling) }

// OpenWithTimedCalls starts the recording that Open starts, and adds system calls that wait with
// a time limit, if this kernel reports them and this process may open as many files.
func OpenWithTimedCalls() (*Recorder, error) {
	r, err := openOnline(slices.Concat(scheduling, timedCalls))
	if u := (*Unavailable)(nil); errors.As(err, &u) && u.Reason == TooManyFiles {
		return Open()
	}
	return r, err
}

func openOnline(sources []source) (*Recorder, error) {
	if err := namespace(); err != nil {
		return nil, err
	}
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, unavailable(err)
	}
	return open(sources, cpus, false)
}

// OpenDisturbances starts to record which threads and interrupts have the given CPUs. In a namespace of
// process numbers of its own, as in a container, threads outside of it have the number [Foreign]. The error
// is an [*Unavailable].
func OpenDisturbances(cpus []int) (*Recorder, error) {
	return open(disturbances, cpus, namespace() != nil)
}

// firstNamespace is the namespace of process numbers in which the machine started (PROC_PID_INIT_INO
// of include/linux/proc_ns.h).
const firstNamespace = "pid:[4026531836]"

// namespace returns an error if the process numbers of this process are not those of the machine, as in
// a container. The fields of an event have the machine's numbers, and its sample has those of this
// process.
func namespace() error {
	if now, err := os.Readlink("/proc/self/ns/pid"); err == nil && now != firstNamespace {
		return &Unavailable{
			Reason: OtherNamespace, Detail: "this process sees other numbers of processes than the machine's, as in a container",
			Remedy: "run it on the host, or in a container with the host's numbers (docker run --pid=host, hostPID: true)",
		}
	}
	return nil
}

// open starts to record the sources. renumbered says that this process sees other numbers of processes than the machine's.
func open(sources []source, cpus []int, renumbered bool) (*Recorder, error) {
	decoder, err := describe(sources)
	if err != nil {
		return nil, err
	}
	if renumbered {
		decoder.own = map[int32]int32{}
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

// unavailable explains an error of perf_event_open(2).
func unavailable(err error) *Unavailable {
	u := &Unavailable{Reason: Refused, Detail: err.Error()}
	switch {
	case errors.Is(err, perfring.ErrLocked):
		u.Reason, u.Remedy = LockedMemory, "other processes of this user may have it: try again, or allow more (sysctl kernel.perf_event_mlock_kb, ulimit -l, LimitMEMLOCK= of a service)"
	case errors.Is(err, fs.ErrPermission):
		u.Reason, u.Remedy = PermissionDenied, rights+"; a container's seccomp profile may forbid it as well"
	case errors.Is(err, unix.EMFILE):
		u.Reason, u.Remedy = TooManyFiles, "each event needs an open file on each CPU: allow more open files (ulimit -n)"
	}
	return u
}

// describe reads the formats of the sources from tracefs. It leaves out optional sources that
// this kernel lacks.
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

// mostFormatBytes limits how much of a format file is read. The kernel's formats have up to 3,000
// bytes.
const mostFormatBytes = 1 << 16

// readAt reads a file in an open folder.
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

// openTracefs opens the root of tracefs. If tracefs is not mounted, it makes a mount that only
// this process sees.
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
		var events unix.Stat_t // not access(2), which judges by the real user and ignores capabilities of users other than root
		if unix.Fstatat(fd, "events", &events, 0) == nil {
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

// mountTracefs mounts tracefs without a mount point (fsmount(2)), so that no other process sees
// it.
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

// tracefsMounts returns the folders where tracefs is mounted, according to /proc/self/mounts (proc_pid_mounts(5)).
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

// open opens all events on the CPUs, and starts them. The events of a CPU share one buffer.
func (r *Recorder) open(cpus []int, pages int) error {
	for _, cpu := range cpus {
		err := r.openCPU(cpu, pages)
		if err != nil && err != unix.ENODEV { // ENODEV: the CPU has gone offline
			return fmt.Errorf("perf_event_open of tracepoints on CPU %d: %w", cpu, err)
		}
	}
	if len(r.rings) == 0 {
		return unix.ENODEV
	}
	r.Resume()
	return nil
}

// onlineCPUs returns all CPUs of the machine that are online, even those that this process may
// not use.
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
		Bits: attrBits | unix.PerfBitDisabled | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask, Wakeup: uint32(pages * os.Getpagesize() / 2), Clockid: unix.CLOCK_MONOTONIC,
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
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, ring.FD, unix.PERF_FLAG_FD_CLOEXEC)
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

// setFilter makes the kernel record only the events that match the filter. An empty filter
// matches all.
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

// Pause stops the recording until Resume: an event that is recorded takes 0.1 to 1 µs of the thread that causes it. System
// calls still take longer while timed calls are among the events.
func (r *Recorder) Pause() { r.control(unix.PERF_EVENT_IOC_DISABLE) }

// Resume continues the recording after Pause.
func (r *Recorder) Resume() { r.control(unix.PERF_EVENT_IOC_ENABLE) }

// control sets the state of all events. They are recorded only while the event that leads their group is, and each change
// interrupts another CPU, so that one change for each CPU is quicker than one for each event. Only an event that is closed
// would refuse it.
func (r *Recorder) control(request uint) {
	for _, fd := range r.FDs() {
		_ = unix.IoctlSetInt(fd, request, 0)
	}
}

// FDs returns the file descriptors of the buffers. They can be read (poll(2)) when their buffer is half full.
func (r *Recorder) FDs() (all []int) {
	for _, ring := range r.rings {
		all = append(all, ring.FD)
	}
	return all
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

// Lost returns the number of events that the kernel has dropped so far.
func (r *Recorder) Lost() int64 { return r.lost }

// late is the longest time between the time stamp of an event and the moment when the event can
// be read. The host may take the CPU away in between.
const late = 20 * time.Millisecond

// Take returns the events of all CPUs in order of time. It keeps those of the last moments for
// the next call, because events with earlier time stamps may still arrive.
func (r *Recorder) Take() []Event { return r.take(Now() - late.Nanoseconds()) }

// Drop discards the events so far.
func (r *Recorder) Drop() {
	for _, ring := range r.rings {
		r.raw = ring.Take(r.raw[:0])
	}
	r.decoder.events = r.decoder.events[:0]
}

// TakeAll returns all events, including those of the last moments.
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

// Wait waits until a buffer is half full, but not longer than d. full reports whether a buffer is
// half full.
func (r *Recorder) Wait(d time.Duration) (full bool) {
	var polled []unix.PollFd
	for _, fd := range r.FDs() {
		polled = append(polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	n, err := unix.Poll(polled, int(d.Milliseconds()))
	return err == nil && n > 0
}

// Now returns the present time by the clock of the events, in nanoseconds: CLOCK_MONOTONIC of the machine, even if a time
// namespace shifts it for this process. Before a recorder was opened it may be the shifted one.
func Now() int64 { return perfring.Now() }
