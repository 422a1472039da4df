package process

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// fileTells is what a program may learn from a file about its own waiting.
type fileTells uint8

const (
	nothing   fileTells = iota
	times               // a time: two readings tell how much passed in between
	ownCounts           // counts since a process began, such as how often it was preempted
	waiting             // how long some process waits for a CPU
	busy                // how busy the machine is: this command is part of that
)

// fileNames holds the last parts of the paths that [tellsOf] knows. Paths with other last parts need not be
// resolved.
var fileNames = map[string]bool{
	"stat": true, "uptime": true, "status": true, "sched": true, "schedstat": true, "loadavg": true,
	"cpu": true, "io": true, "memory": true, "cpu.stat": true, "cpu.pressure": true, "io.pressure": true, "memory.pressure": true,
}

// tellsOf returns what the file with an absolute path tells (proc(5), Documentation/accounting/psi.rst,
// Documentation/admin-guide/cgroup-v2.rst).
func tellsOf(file string) fileTells {
	dir, name := path.Split(path.Clean(file))
	if name == "cpu.stat" || strings.HasSuffix(name, ".pressure") {
		return waiting
	}
	if dir != "/proc/" && !strings.HasPrefix(dir, "/proc/") {
		return nothing
	}
	switch inRoot := dir == "/proc/"; {
	case inRoot && name == "stat": // with procs_running; the C library reads it to count the CPUs, as for Java
		return waiting
	case inRoot && name == "loadavg":
		return busy
	case name == "stat" && strings.Trim(path.Base(dir), "0123456789") == "": // whether another process runs
		return busy
	case name == "schedstat", name == "sched", dir == "/proc/pressure/":
		return waiting
	case inRoot && name == "uptime":
		return times
	case name == "status":
		return ownCounts
	}
	return nothing
}

// opens counts those files opened for reading by a traced program that were looked at, to learn what they tell
// about its waiting. missed says that there were more, and that these were not looked at.
type opens struct {
	count  int
	missed bool
}

// If a program opens very many files, not all are looked at: the first manyOpens are, and later ones as long as
// all stops take at most a tenth of the program's time.
const manyOpens = 2_000

func (o *opens) tooMany(sinceStart time.Duration) bool {
	return o.count > manyOpens && int64(o.count)*stopNs > sinceStart.Nanoseconds()/10
}

// look returns what the file tells that a thread is about to open.
func (o *opens) look(thread int, info *syscallInfo, sinceStart time.Duration) fileTells {
	if o.tooMany(sinceStart) {
		o.missed = true
		return nothing
	}
	o.count++
	call := notedCalls[info.number]
	file := readString(thread, uintptr(info.args[call.arg]))
	if !fileNames[path.Base(file)] {
		return nothing
	}
	if !path.IsAbs(file) {
		from := "cwd"
		if fd := int32(info.args[0]); call.arg > 0 && fd != unix.AT_FDCWD {
			from = fmt.Sprintf("fd/%d", fd)
		}
		dir, err := os.Readlink(machine.ProcFile(thread, from))
		if err != nil {
			return nothing
		}
		file = path.Join(dir, file)
	}
	return tellsOf(file)
}

// readString reads a string from a thread's memory up to its zero byte, of at most PATH_MAX bytes; it is empty
// if it can't be read.
func readString(thread int, at uintptr) string {
	const pageBytes = 4096 // the next page may be missing
	var all []byte
	for len(all) < unix.PathMax {
		part := make([]byte, min(256, pageBytes-int(at+uintptr(len(all)))%pageBytes))
		into := unix.Iovec{Base: &part[0]}
		into.SetLen(len(part))
		n, err := unix.ProcessVMReadv(thread, []unix.Iovec{into},
			[]unix.RemoteIovec{{Base: at + uintptr(len(all)), Len: len(part)}}, 0)
		if err != nil || n <= 0 {
			return ""
		}
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(all, part[:end]...))
		}
		all = append(all, part[:n]...)
	}
	return ""
}
