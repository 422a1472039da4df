package machine

import (
	"encoding/json"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// The trees below testdata are taken from real machines: a Xeon server, the KVM guest of this
// project's first measurements, and an RK3399 board. The expected values were read from the
// files by hand.
func TestReadTrees(t *testing.T) {
	for _, want := range []struct {
		tree string
		m    Machine
	}{
		{"intel-metal", Machine{
			CPU: "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", Vendor: "GenuineIntel", Model: "family 6 model 85 stepping 7", Microcode: "0x5003604",
			CPUs: 4, CPUList: "0-3", CPUsOnline: new(4), SMT: new(true),
			Governor: "performance,powersave", FrequencyDriver: "intel_pstate",
			Clocksource: "hpet", Clocksources: []Text{"tsc", "hpet", "acpi_pm"},
			Hypervisor: "none", Container: "none",
			PerfEventParanoid: new(3), Load1: new(3.5),
			Kernel: "6.1.0-28-amd64", OS: "linux", Arch: "amd64",
		}},
		{"amd-kvm", Machine{
			CPU: "AMD EPYC", Vendor: "AuthenticAMD", Model: "family 26 model 2 stepping 1", Microcode: "0x1000065",
			CPUs: 2, CPUList: "0-1", CPUsOnline: new(2), SMT: new(false),
			Clocksource: "tsc", Clocksources: []Text{"tsc", "kvm-clock"},
			Hypervisor: "kvm", Container: "docker",
			PerfEventParanoid: new(2), Load1: new(0.02),
			Kernel: "6.18.44-fc-v657", OS: "linux", Arch: "amd64",
			Caveats: []string{
				"SMT: it is the virtual machine's; a CPU may share its core with a sibling that only the host sees",
				"governor: /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor: no such file or directory; virtual machines and fixed-frequency CPUs have none",
				"frequency driver: /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver: no such file or directory; virtual machines and fixed-frequency CPUs have none",
			},
		}},
		{"arm64-board", Machine{
			CPU: "Cortex-A53, Cortex-A72", Vendor: "Arm",
			Model: "implementer 0x41 part 0xd03 variant 0x0 revision 4, implementer 0x41 part 0xd08 variant 0x0 revision 2",
			CPUs:  4, CPUList: "2-5", CPUsOnline: new(6), SMT: new(false),
			Governor: "schedutil", FrequencyDriver: "cpufreq-dt",
			Clocksource: "arch_sys_counter", Clocksources: []Text{"arch_sys_counter"},
			Container:         "none",
			PerfEventParanoid: new(2), Load1: new(0.4),
			Kernel: "6.6.31-rockchip", OS: "linux", Arch: "arm64",
			Caveats: []string{
				"microcode: /proc/cpuinfo does not show its revision on this machine",
				"hypervisor: neither the CPU nor the firmware nor the device tree names one, which does not prove that there is none",
			},
		}},
	} {
		t.Run(want.tree, func(t *testing.T) {
			got := Read(os.DirFS("testdata/"+want.tree), string(want.m.Arch))
			if runtime.GOOS == "windows" { // its error for a missing file has other words
				got.Caveats, want.m.Caveats = nil, nil
			}
			if diff := cmp.Diff(&want.m, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A container may have neither /proc nor /sys. Every field that is null then has a caveat.
func TestReadNothing(t *testing.T) {
	m := Read(fstest.MapFS{}, "amd64")
	if diff := cmp.Diff(&Machine{OS: "linux", Arch: "amd64", Caveats: m.Caveats}, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, topic := range []string{
		"CPU name and microcode", "CPUs online", "CPUs that this process may use", "hypervisor", "SMT",
		"governor", "frequency driver", "clocksource", "available clocksources", "container",
		"CPU limit", "kernel", "perf_event_paranoid", "load average",
	} {
		if !hasCaveat(m, topic) {
			t.Errorf("no caveat on %q in %q", topic, m.Caveats)
		}
	}
	if findings := m.Findings(); len(findings) != 0 {
		t.Errorf("findings about nothing: %v", findings)
	}
}

// A malformed file leads to an empty field with a caveat, whatever the other files say.
func TestReadMalformed(t *testing.T) {
	const topology, clocks = "sys/devices/system/cpu/", "sys/devices/system/clocksource/clocksource0/"
	for _, c := range []struct {
		file, content, caveat string
		empty                 func(*Machine) bool
	}{
		{"proc/cpuinfo", "\x00\xff: : :\n", "CPU name", func(m *Machine) bool { return m.CPU == "" }},
		{"proc/cpuinfo", "processor : 0\nmodel name : \x1b[2Jboo\n", "CPU name", func(m *Machine) bool { return m.CPU == "" }},
		{"proc/self/status", "Cpus_allowed_list:\t3-1\n", "CPUs that this process may use", func(m *Machine) bool { return m.CPUs == 0 }},
		{"proc/self/status", "", "CPUs that this process may use", func(m *Machine) bool { return m.CPUList == "" }},
		{"proc/loadavg", "NaN 1 1 1/1 1\n", "load average", func(m *Machine) bool { return m.Load1 == nil }},
		{"proc/loadavg", "-1 1 1 1/1 1\n", "load average", func(m *Machine) bool { return m.Load1 == nil }},
		{"proc/loadavg", "Inf", "load average", func(m *Machine) bool { return m.Load1 == nil }},
		{"proc/sys/kernel/osrelease", "6.1\n6.2\n", "kernel", func(m *Machine) bool { return m.Kernel == "" }},
		{"proc/sys/kernel/perf_event_paranoid", "two", "perf_event_paranoid", func(m *Machine) bool { return m.PerfEventParanoid == nil }},
		{"proc/sys/kernel/perf_event_paranoid", "99999999999", "perf_event_paranoid", func(m *Machine) bool { return m.PerfEventParanoid == nil }},
		{topology + "smt/active", "7", "SMT", func(m *Machine) bool { return m.SMT == nil }},
		{topology + "cpu0/cpufreq/scaling_governor", "\n", "governor", func(m *Machine) bool { return m.Governor == "" }},
		{topology + "cpu2/cpufreq/scaling_driver", "\x07", "frequency driver", func(m *Machine) bool { return m.FrequencyDriver == "" }},
		{clocks + "current_clocksource", "", "clocksource", func(m *Machine) bool { return m.Clocksource == "" }},
		{clocks + "available_clocksource", strings.Repeat("tsc ", 2000), "available clocksources", func(m *Machine) bool { return m.Clocksources == nil }},
		{"sys/fs/cgroup/user.slice/cpu.max", "50000", "CPU limit", func(m *Machine) bool { return m.CPULimit == nil }},
		{"sys/fs/cgroup/user.slice/cpu.max", "50000 0", "CPU limit", func(m *Machine) bool { return m.CPULimit == nil }},
		{"sys/fs/cgroup/user.slice/cpu.max", "-5 100000", "CPU limit", func(m *Machine) bool { return m.CPULimit == nil }},
		{"proc/self/mountinfo", "31 24 0:27 / /sys/fs/cgroup - cgroup2\n", "CPU limit", func(m *Machine) bool { return m.CPULimit == nil }},
	} {
		tree := load(t, "intel-metal")
		tree[c.file] = &fstest.MapFile{Data: []byte(c.content)}
		m := Read(tree, "amd64")
		if !c.empty(m) {
			t.Errorf("/%s with %.20q: the field is not empty", c.file, c.content)
		}
		if !hasCaveat(m, c.caveat) {
			t.Errorf("/%s with %.20q: no caveat on %q in %q", c.file, c.content, c.caveat, m.Caveats)
		}
	}
}

// If the file that lists the online CPUs is missing, their number is taken from /proc/cpuinfo.
func TestOnlineCPUsFromCPUInfo(t *testing.T) {
	tree := load(t, "intel-metal")
	delete(tree, "sys/devices/system/cpu/online")
	if m := Read(tree, "amd64"); m.CPUsOnline == nil || *m.CPUsOnline != 4 {
		t.Errorf("CPUs online: %v, want the 4 of /proc/cpuinfo", m.CPUsOnline)
	}
}

func TestReadEmulated(t *testing.T) {
	m := Read(load(t, "amd-kvm"), "arm64")
	if !m.Emulated || !hasCaveat(m, "CPU") {
		t.Errorf("an arm64 program on an x86 CPU: emulated %v, caveats %q", m.Emulated, m.Caveats)
	}
	if m := Read(load(t, "amd-kvm"), "amd64"); m.Emulated {
		t.Error("an x86 program on an x86 CPU is called emulated")
	}
	if m := Read(load(t, "amd-kvm"), "386"); m.Emulated {
		t.Error("a program of 32 bits on a CPU that runs it is called emulated")
	}
}

func TestArmName(t *testing.T) {
	for _, c := range []struct{ implementer, part, want string }{
		{"0x41", "0xd0c", "Neoverse-N1"}, // AWS Graviton2
		{"0x41", "0xd40", "Neoverse-V1"}, // AWS Graviton3
		{"0xc0", "0xac3", "Ampere-1"},
		{"0x41", "0xfff", "Arm CPU part 0xfff"},
		{"0x99", "0x001", "implementer 0x99 CPU part 0x001"},
		{"0x41", "", ""},
		{"", "0xd0c", ""},
	} {
		cpu := cpuInfo{"CPU implementer": c.implementer, "CPU part": c.part}
		if got := cpu.name(); string(got) != c.want {
			t.Errorf("implementer %s part %s: %q, want %q", c.implementer, c.part, got, c.want)
		}
	}
}

// The test asserts what holds on any machine, in a container without /proc or /sys, and for any
// user.
func TestIdentify(t *testing.T) {
	m := Identify()
	if m.CPUs < 1 {
		t.Errorf("%d CPUs", m.CPUs)
	}
	if string(m.OS) != runtime.GOOS || string(m.Arch) != runtime.GOARCH || string(m.Go) != runtime.Version() {
		t.Errorf("os %s, arch %s, go %s", m.OS, m.Arch, m.Go)
	}
	if runtime.GOOS == "linux" && m.Kernel == "" {
		t.Errorf("uname gives no release")
	}
	if m.TSCHz != nil || m.CoreHz != nil {
		t.Errorf("a rate that nobody measured: %v %v", m.TSCHz, m.CoreHz)
	}
	if m.CPUList != "" {
		if cpus, err := ParseCPUList(string(m.CPUList)); err != nil || len(cpus) != m.CPUs {
			t.Errorf("list %q of %d CPUs: %v", m.CPUList, m.CPUs, err)
		}
	}
}

func TestJSON(t *testing.T) {
	data, err := json.Marshal(Read(load(t, "amd-kvm"), "amd64"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"cpu": "AMD EPYC", "vendor": "AuthenticAMD", "model": "family 26 model 2 stepping 1", "microcode": "0x1000065",
		"cpus": 2.0, "cpu_list": "0-1", "cpus_online": 2.0, "smt": false,
		"tsc_hz": nil, "core_hz": nil, "tick_hz": nil, "governor": nil, "frequency_driver": nil,
		"clocksource": "tsc", "clocksources": []any{"tsc", "kvm-clock"},
		"hypervisor": "kvm", "container": "docker", "emulated": false,
		"cpu_limit": nil, "perf_event_paranoid": 2.0, "load1": 0.02,
		"kernel": "6.18.44-fc-v657", "os": "linux", "arch": "amd64", "go": nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var back Machine
	if err := json.Unmarshal(data, &back); err != nil || back.CPU != "AMD EPYC" || back.Governor != "" {
		t.Errorf("read back: %v, %+v", err, back)
	}
}

// load reads a tree of testdata into memory, so that a test can change it.
func load(t testing.TB, tree string) fstest.MapFS {
	t.Helper()
	loaded, root := fstest.MapFS{}, os.DirFS("testdata/"+tree)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		loaded[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func hasCaveat(m *Machine, topic string) bool {
	return slices.ContainsFunc(m.Caveats, func(c string) bool { return strings.HasPrefix(c, topic+":") })
}

// Every caveat of the tested machines has one of the topics, except the caveat on an emulator:
// the pages list the topics of all such caveats in one line.
func TestCaveatsSayWhatIsUnknown(t *testing.T) {
	for _, m := range []*Machine{Identify(), Read(fstest.MapFS{}, "amd64"), Read(fstest.MapFS{}, "arm64")} {
		for _, caveat := range m.Caveats {
			if topic, ok := UnknownTopic(caveat); !ok && topic != "CPU" && m.OS == "linux" {
				t.Errorf("%q names no topic", caveat)
			}
		}
	}
}
