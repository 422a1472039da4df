package machine

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const (
	unifiedMount = "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	cpuMount     = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
	// dockerMount is what a container of Docker on version 1 without a cgroup namespace sees: the
	// mount shows the container's own group only.
	dockerMount = "32 31 0:29 /docker/4f2a /sys/fs/cgroup/cpu ro master:11 - cgroup cgroup rw,cpu\n"
)

func TestReadCPULimit(t *testing.T) {
	for name, c := range map[string]struct {
		groups, mounts string
		files          map[string]string
		want           *CPULimit
	}{
		"version 2, none": {
			"0::/a\n", unifiedMount,
			map[string]string{"sys/fs/cgroup/a/cpu.max": "max 100000\n"},
			nil,
		},
		"version 2, own": {
			"0::/a\n", unifiedMount,
			map[string]string{"sys/fs/cgroup/a/cpu.max": "150000 100000\n"},
			&CPULimit{CPUs: 1.5, PeriodNs: 100e6},
		},
		"version 2, a group around it is stricter": {
			"0::/a/b/c\n", unifiedMount,
			map[string]string{
				"sys/fs/cgroup/a/cpu.max":     "20000 50000\n",
				"sys/fs/cgroup/a/b/cpu.max":   "max 100000\n",
				"sys/fs/cgroup/a/b/c/cpu.max": "200000 100000\n",
			},
			&CPULimit{CPUs: 0.4, PeriodNs: 50e6},
		},
		"version 2, in a namespace": {
			"0::/\n", unifiedMount,
			map[string]string{"sys/fs/cgroup/cpu.max": "50000 100000\n"},
			&CPULimit{CPUs: 0.5, PeriodNs: 100e6},
		},
		"version 1, none": {
			"3:cpu,cpuacct:/a\n", cpuMount,
			map[string]string{"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"},
			nil,
		},
		"version 1, own": {
			"3:cpu,cpuacct:/a\n1:name=systemd:/\n", cpuMount,
			map[string]string{"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "30000\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "10000\n"},
			&CPULimit{CPUs: 3, PeriodNs: 10e6},
		},
		"version 1, without a namespace": {
			"3:cpu:/docker/4f2a\n", dockerMount,
			map[string]string{"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "25000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
			&CPULimit{CPUs: 0.25, PeriodNs: 100e6},
		},
		"both versions, the stricter counts": {
			"3:cpu,cpuacct:/a\n0::/b\n", cpuMount + unifiedMount,
			map[string]string{
				"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "30000\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "10000\n",
				"sys/fs/cgroup/b/cpu.max": "100000 100000\n",
			},
			&CPULimit{CPUs: 1, PeriodNs: 100e6},
		},
		"the limit of another controller's hierarchy does not count": {
			"4:memory:/a\n3:cpu:/\n", cpuMount,
			map[string]string{"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "30000\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "10000\n"},
			nil,
		},
	} {
		tree := fstest.MapFS{
			"proc/self/cgroup":    {Data: []byte(c.groups)},
			"proc/self/mountinfo": {Data: []byte(c.mounts)},
		}
		for file, content := range c.files {
			tree[file] = &fstest.MapFile{Data: []byte(content)}
		}
		m := &Machine{}
		m.readCPULimit(files{tree})
		if diff := cmp.Diff(c.want, m.CPULimit); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
		if len(m.Caveats) != 0 {
			t.Errorf("%s: caveats %q", name, m.Caveats)
		}
	}
}

// Another process may be in other groups than this one.
func TestCPULimitOf(t *testing.T) {
	tree := fstest.MapFS{
		"proc/self/cgroup":            {Data: []byte("0::/a\n")},
		"proc/7/cgroup":               {Data: []byte("0::/a/b\n")},
		"proc/self/mountinfo":         {Data: []byte(unifiedMount)},
		"sys/fs/cgroup/a/cpu.max":     {Data: []byte("max 100000\n")},
		"sys/fs/cgroup/a/b/cpu.max":   {Data: []byte("50000 100000\n")},
		"sys/fs/cgroup/a/b/c/cpu.max": {Data: []byte("10000 100000\n")},
	}
	for process, want := range map[string]*CPULimit{"self": nil, "7": {CPUs: 0.5, PeriodNs: 100e6}, "8": nil} {
		if diff := cmp.Diff(want, CPULimitOf(tree, process)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", process, diff)
		}
	}
}

// If the hierarchy that could have a limit isn't mounted, a caveat says that a limit can't be
// excluded. Control characters in a file name from mountinfo are not printed.
func TestReadCPULimitCaveats(t *testing.T) {
	const odd = "31 24 0:27 / /cg\\012x rw - cgroup2 cgroup2 rw\n"
	for _, c := range []struct{ groups, mounts, want string }{
		{"4:memory:/\n3:cpu:/\n", "32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "CPU limit: no control group of this process is mounted; a limit may be in force all the same"},
		{"0::/\n", odd, `CPU limit: /cg?x/cpu.max holds "much", not a quota and a period`},
	} {
		m := &Machine{}
		m.readCPULimit(files{fstest.MapFS{
			"proc/self/cgroup":    {Data: []byte(c.groups)},
			"proc/self/mountinfo": {Data: []byte(c.mounts)},
			"cg\nx/cpu.max":       {Data: []byte("much\n")},
		}})
		if m.CPULimit != nil || !slices.Equal(m.Caveats, []string{c.want}) {
			t.Errorf("%q in %q: limit %v, caveats %q", c.groups, c.mounts, m.CPULimit, m.Caveats)
		}
	}
}

func TestCgroupDirectories(t *testing.T) {
	for _, c := range []struct {
		root, point, group string
		want               []string
	}{
		{"/", "/sys/fs/cgroup", "/a/b", []string{"sys/fs/cgroup/a/b", "sys/fs/cgroup/a", "sys/fs/cgroup"}},
		{"/", "/sys/fs/cgroup", "/", []string{"sys/fs/cgroup"}},
		{"/a", "/cg", "/a/b", []string{"cg/b", "cg"}},
		{"/a", "/cg", "/ab", []string{"cg"}},
		{"/", "/", "/a", []string{"a", "."}},
	} {
		mount := cgroupMount{root: c.root, point: c.point}
		if got := mount.directories(cgroup{path: c.group}); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestParseCgroupMounts(t *testing.T) {
	// The first line is the example in proc_pid_mountinfo(5).
	text := "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n" +
		"31 24 0:27 / /my\\040groups rw - cgroup2 cgroup2 rw\n" + cpuMount + "short - cgroup2\n"
	want := []cgroupMount{
		{root: "/", point: "/my groups", version: 2},
		{root: "/", point: "/sys/fs/cgroup/cpu,cpuacct", version: 1, controllers: []string{"rw", "cpu", "cpuacct"}},
	}
	if diff := cmp.Diff(want, parseCgroupMounts(text), cmp.AllowUnexported(cgroupMount{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever the two files contain, only files below the mount point are opened, and a limit is a
// positive number.
func FuzzReadCPULimit(f *testing.F) {
	f.Add("0::/a\n", unifiedMount, "150000 100000\n")
	f.Add("3:cpu:/docker/4f2a\n", dockerMount, "25000\n")
	f.Add("0::/../../etc\n", unifiedMount, "1 1\n")
	f.Add("0::/a\n", "1 2 0:1 /../.. /../x rw - cgroup2 none rw\n", "max")
	f.Add("0::/\n", "1 2 0:1 / /sys/fs/cgroup\\012x rw - cgroup2 none rw\n", "x")
	f.Add("::/\n:\n", "- - -\n", "9223372036854775807 1")
	f.Fuzz(func(t *testing.T, groups, mounts, limit string) {
		for _, mount := range parseCgroupMounts(mounts) {
			for _, group := range parseCgroups(groups) {
				for _, directory := range mount.directories(group) {
					point := belowRoot(mount.point)
					// A path that is not UTF-8 can't be opened.
					if utf8.ValidString(directory) && !fs.ValidPath(directory) || point != "." && directory != point && !strings.HasPrefix(directory, point+"/") {
						t.Errorf("group %q of mount %+v is looked for in %q", group.path, mount, directory)
					}
				}
			}
		}
		tree := fstest.MapFS{
			"proc/self/cgroup":    {Data: []byte(groups)},
			"proc/self/mountinfo": {Data: []byte(mounts)},
		}
		for _, file := range []string{"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"} {
			tree[path.Join("sys/fs/cgroup", file)] = &fstest.MapFile{Data: []byte(limit)}
		}
		m := &Machine{}
		m.readCPULimit(files{tree})
		if l := m.CPULimit; l != nil && !(l.CPUs > 0 && l.PeriodNs > 0) {
			t.Errorf("%q is a limit of %v", limit, *l)
		}
		for _, caveat := range m.Caveats {
			if len(caveat) < maxLineBytes && !printable(caveat) {
				t.Errorf("%q can't be printed", caveat)
			}
		}
	})
}
