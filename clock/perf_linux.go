package clock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perfEvent is one event of perf_event_open(2).
type perfEvent struct {
	name   string // name of the C constant
	kind   uint32
	config uint64
}

var perfEvents = map[string]perfEvent{
	"perf-task-clock":   {"PERF_COUNT_SW_TASK_CLOCK", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK},
	"perf-cycles":       {"PERF_COUNT_HW_CPU_CYCLES", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	"perf-ref-cycles":   {"PERF_COUNT_HW_REF_CPU_CYCLES", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_REF_CPU_CYCLES},
	"perf-instructions": {"PERF_COUNT_HW_INSTRUCTIONS", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
}

// perfReading is what read(2) returns in the format that openPerf asks for.
type perfReading struct {
	value, enabledNs, runningNs uint64
}

// openPerf opens an event that counts for the calling thread in user space only. This needs the
// fewest permissions, and does not count the kernel's part of a reading.
func openPerf(event perfEvent) opener {
	return func() (*Clock, error) {
		attributes := unix.PerfEventAttr{
			Type: event.kind, Config: event.config,
			Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Bits:        unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
			Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		}
		fd, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return nil, perfRefusal(os.DirFS("/"), err)
		}
		if err := perfCounts(fd); err != nil {
			unix.Close(fd)
			return nil, err
		}
		return perfClock(fd, event), nil
	}
}

func perfClock(fd int, event perfEvent) *Clock {
	description := Clock{
		API: "read(2) of perf_event_open(" + event.name + ")", Kind: KindCounter, Scope: ScopeThread,
		CountsSleep: No, CountsSuspend: No,
	}
	if event.kind == unix.PERF_TYPE_SOFTWARE {
		description.Kind, description.UnitNs = KindCPU, 1
	}
	c := New(description, func() int64 { return int64(readPerf(fd).value) })
	c.running = func() float64 {
		r := readPerf(fd)
		if r.enabledNs == 0 {
			return 1
		}
		return float64(r.runningNs) / float64(r.enabledNs)
	}
	// Only once, because the descriptor's number may belong to another file afterwards.
	c.close = sync.OnceValue(func() error { return unix.Close(fd) })
	return c
}

// readPerf reads the event without telling the Go scheduler. It returns zero if read(2) fails,
// which is unlikely because the event counted when it was opened.
func readPerf(fd int) (r perfReading) {
	unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&r)), unsafe.Sizeof(r))
	return r
}

// perfCounts returns an error if the event does not count. Some virtual machines accept an event
// and never count it.
func perfCounts(fd int) error {
	before := readPerf(fd)
	Spin(10_000)
	if readPerf(fd).value > before.value {
		return nil
	}
	return &Unavailable{
		Reason: NotSupportedHere,
		Detail: "perf_event_open(2) succeeded, but the event does not count",
		Remedy: "give the virtual machine a performance monitoring unit, or run on the host",
	}
}

// perfRefusal returns the reason for an error of perf_event_open(2). The section ERRORS of that
// manual page says what each error means.
func perfRefusal(root fs.FS, err error) *Unavailable {
	u := &Unavailable{
		Reason: Refused,
		Detail: fmt.Sprintf("perf_event_open(2) of this event: %v", err),
	}
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		u.Reason, u.Remedy = PermissionDenied, perfPermission(root)
	case errors.Is(err, unix.ENOSYS):
		u.Reason, u.Remedy = NoSystemCall, "a kernel with CONFIG_PERF_EVENTS, or a sandbox that allows the call"
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV),
		errors.Is(err, unix.ENXIO), errors.Is(err, unix.EINVAL):
		u.Reason = NotSupportedHere
		u.Remedy = "on a virtual machine, let the host pass a performance monitoring unit on; some processors lack the event"
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		u.Remedy = "raise the limit of open files (ulimit -n)"
	case errors.Is(err, unix.EBUSY):
		u.Remedy = "end the other program that holds the performance counters"
	}
	return u
}

// perfPermission says what would allow the event, and shows the present value of
// kernel.perf_event_paranoid if it can be read
// (Documentation/admin-guide/perf-security).
func perfPermission(root fs.FS) string {
	remedy := "run with CAP_PERFMON, or set the sysctl kernel.perf_event_paranoid to 2 or less"
	text, err := fs.ReadFile(root, "proc/sys/kernel/perf_event_paranoid")
	now := strings.TrimSpace(string(text))
	level, wrong := strconv.Atoi(now)
	switch {
	case err != nil:
	case wrong == nil && level <= 2: // at which every process may count its own time
		return "let the container's seccomp profile, or the sandbox, allow the call: kernel.perf_event_paranoid is " + now + ", which does not forbid it"
	default:
		remedy = fmt.Sprintf("%s (now %.8s)", remedy, now)
	}
	return remedy + "; a container's seccomp profile may forbid it as well"
}
