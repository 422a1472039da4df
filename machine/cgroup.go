package machine

import (
	"path"
	"slices"
	"strings"
)

// cgroup is a control group that holds this process, in one hierarchy. The
// unified hierarchy of version 2 names no controllers.
type cgroup struct {
	controllers []string
	path        string
}

// cgroupMount is where a hierarchy of control groups is mounted: point shows the
// group root and what lies below it.
type cgroupMount struct {
	root, point string
	version     int
	controllers []string // of version 1
}

// parseCgroups reads /proc/self/cgroup (cgroups(7)). Lines it can't read are
// left out.
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

// unescape turns mountinfo's octal escapes back into characters.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// shows reports whether the group's bandwidth limit is found below the mount.
func (m cgroupMount) shows(g cgroup) bool {
	if m.version == 2 {
		return len(g.controllers) == 0
	}
	return slices.Contains(g.controllers, "cpu") && slices.Contains(m.controllers, "cpu")
}

// directories lists the group's directory and those of the groups around it, as
// far as the mount shows them, as names below the root of a file system.
func (m cgroupMount) directories(g cgroup) []string {
	below, ok := strings.CutPrefix(g.path, strings.TrimSuffix(m.root, "/"))
	if !ok || below != "" && below[0] != '/' {
		below = "" // a namespace hides the path: the mount point is all there is
	}
	var directories []string
	for directory := path.Join(m.point, below); ; directory = path.Dir(directory) {
		directories = append(directories, belowRoot(directory))
		if len(directory) <= len(m.point) {
			return directories
		}
	}
}

// belowRoot is an absolute path as package fs names it.
func belowRoot(absolute string) string {
	if name := strings.Trim(path.Clean("/"+absolute), "/"); name != "" {
		return name
	}
	return "."
}
