package process

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// fileWatch learns from the kernel (inotify(7)) when any process opens a file that may tell a program how long
// it has waited. That costs the program nothing, however many files it opens. The kernel does not tell which
// process opened the file.
type fileWatch struct {
	fd   int
	dirs map[uint32]string // by the watch descriptor
}

// newFileWatch watches the files that tell of the whole machine, and those of the control groups of a thread.
func newFileWatch(groups []byte) (*fileWatch, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("noticing opened files: inotify_init1: %w: allow more of them (fs.inotify.max_user_instances)", err)
	}
	o := &fileWatch{fd, map[uint32]string{}}
	o.add("/proc", "/proc/pressure", "/sys/fs/cgroup")
	for line := range strings.Lines(string(groups)) { // ID:CONTROLLERS:PATH (cgroups(7))
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			o.add(path.Join("/sys/fs/cgroup", parts[1], parts[2]))
		}
	}
	return o, nil
}

// add watches the files of folders. It leaves out folders that can't be watched.
func (o *fileWatch) add(dirs ...string) {
	for _, dir := range dirs {
		if id, err := unix.InotifyAddWatch(o.fd, dir, unix.IN_OPEN); err == nil {
			o.dirs[uint32(id)] = dir
		}
	}
}

// follow watches the files of a stopped thread and of its process.
func (o *fileWatch) follow(thread, process int) {
	if o != nil {
		o.add(machine.ProcFile(process, ""), machine.ProcFile(thread, ""), machine.ProcFile(process, fmt.Sprintf("task/%d", thread)))
	}
}

// opened returns what the files that were opened since the last call tell: the largest fileTells of them. It leaves out
// the files in the folders of some threads, which the tracer itself opened.
func (o *fileWatch) opened(but ...int) (tells fileTells) {
	if o == nil {
		return nothing
	}
	events := make([]byte, 16<<10)
	for {
		n, err := unix.Read(o.fd, events)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return tells
		}
		for rest := events[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			watch, mask := binary.NativeEndian.Uint32(rest), binary.NativeEndian.Uint32(rest[4:])
			length := int(binary.NativeEndian.Uint32(rest[12:]))
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+length], []byte{0})
			rest = rest[unix.SizeofInotifyEvent+length:]
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				tells = waiting
			case len(name) > 0 && !isOf(but, o.dirs[watch]):
				tells = max(tells, tellsOf(path.Join(o.dirs[watch], string(name))))
			}
		}
	}
}

// isOf reports whether a folder is that of one of the threads, or within it.
func isOf(threads []int, dir string) bool {
	return slices.ContainsFunc(threads, func(id int) bool { return strings.HasPrefix(dir+"/", fmt.Sprintf("/proc/%d/", id)) })
}

func (o *fileWatch) close() {
	if o != nil {
		os.NewFile(uintptr(o.fd), "inotify").Close()
	}
}
