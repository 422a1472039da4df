package machine

import (
	"path"
	"slices"
	"strings"
)

// cgroup is a control group of this process in one hierarchy. controllers is empty in the unified
// hierarchy of version 2.
type cgroup struct {
	controllers []string
	path        string
}

// cgroupMount is a mounted hierarchy of control groups: the directory point shows the group root
// and the groups below it.
type cgroupMount struct {
	root, point string
	version     int
	controllers []string // of version 1
}

// parseCgroups reads /proc/self/cgroup (cgroups(7)). It skips lines that it can't read.
func parseCgroups(text string) []cgroup {
	var groups []cgroup
	for line := range strings.Lines(text) {
		part := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(part) != 3 || !strings.HasPrefix(part[2], "/") {
			continue
		}
		groups = append(groups, cgroup{controllers: splitList(part[1]), path: path.Clean(part[2])})
	}
	return groups
}

// parseCgroupMounts reads the mounts of control groups from /proc/self/mountinfo
// (proc_pid_mountinfo(5)).
func parseCgroupMounts(text string) []cgroupMount {
	var mounts []cgroupMount
	for line := range strings.Lines(text) {
		where, what, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(where), strings.Fields(what)
		if !ok || len(left) < 6 || len(right) < 3 {
			continue
		}
		mount := cgroupMount{root: path.Clean(unescape.Replace(left[3])), point: path.Clean(unescape.Replace(left[4]))}
		switch right[0] {
		case "cgroup":
			mount.version, mount.controllers = 1, splitList(right[2])
		case "cgroup2":
			mount.version = 2
		default:
			continue
		}
		mounts = append(mounts, mount)
	}
	return mounts
}

// unescape replaces mountinfo's octal escapes by the characters that they stand for.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// shows reports whether the files of the group's CPU bandwidth limit are below the mount point.
func (m cgroupMount) shows(g cgroup) bool {
	if m.version == 2 {
		return len(g.controllers) == 0
	}
	return slices.Contains(g.controllers, "cpu") && slices.Contains(m.controllers, "cpu")
}

// directories returns the directory of the group and of each of its ancestors that the mount
// shows, as names below the root of a file system.
func (m cgroupMount) directories(g cgroup) []string {
	below, ok := strings.CutPrefix(g.path, strings.TrimSuffix(m.root, "/"))
	if !ok || below != "" && below[0] != '/' {
		below = "" // a namespace hides the path, so only the mount point can be read
	}
	var directories []string
	for directory := path.Join(m.point, below); ; directory = path.Dir(directory) {
		directories = append(directories, belowRoot(directory))
		if len(directory) <= len(m.point) {
			return directories
		}
	}
}

// groupDirectories calls visit for each directory with CPU bandwidth files of a process's control
// groups and their ancestors. It returns an error if the groups or their mounts can't be read.
func (f files) groupDirectories(process string, visit func(version int, directory string)) error {
	groups, err := f.text("proc/" + process + "/cgroup")
	if err != nil {
		return err
	}
	mounts, err := f.text("proc/self/mountinfo")
	if err != nil {
		return err
	}
	for _, mount := range parseCgroupMounts(mounts) {
		for _, group := range parseCgroups(groups) {
			if mount.shows(group) {
				for _, directory := range mount.directories(group) {
					visit(mount.version, directory)
				}
			}
		}
	}
	return nil
}

// belowRoot converts an absolute path to a name of package fs.
func belowRoot(absolute string) string {
	if name := strings.Trim(path.Clean("/"+absolute), "/"); name != "" {
		return name
	}
	return "."
}
