package machine

import "strings"

// containerMarks are files that container managers create in a container.
var containerMarks = []struct {
	file string
	kind Text
}{
	{"run/.containerenv", "podman"},
	{".dockerenv", "docker"},
}

// containerPaths are parts of the control group paths that container managers choose.
var containerPaths = []struct {
	part string
	kind Text
}{
	{"/kubepods", "kubernetes"},
	{"/docker/", "docker"},
	{"/docker-", "docker"},
	{"/libpod-", "podman"},
	{"cri-containerd", "containerd"},
	{"/lxc/", "lxc"},
	{"/lxc.payload", "lxc"},
}

// readContainer looks for signs of a container around this process.
func (m *Machine) readContainer(f files) {
	// systemd asks container managers to write this file.
	if kind, err := f.value("run/systemd/container"); err == nil {
		m.Container = kind
		return
	}
	for _, mark := range containerMarks {
		if f.exists(mark.file) {
			m.Container = mark.kind
			return
		}
	}
	groups, err := f.text("proc/self/cgroup")
	if err != nil {
		m.caveat("container: no mark of one, and %v", err)
		return
	}
	m.Container = containerOfGroups(groups)
}

func containerOfGroups(groups string) Text {
	for _, path := range containerPaths {
		if strings.Contains(groups, path.part) {
			return path.kind
		}
	}
	return noContainer
}
