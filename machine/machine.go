package machine

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Machine describes one machine as one process sees it. A field that could not be read is empty,
// null in JSON, and Caveats says why.
type Machine struct {
	// CPU is the processor's commercial name, Vendor its maker, and Model its identification
	// numbers (family, model, stepping; on arm64 implementer, part, variant, revision).
	CPU    Text `json:"cpu"`
	Vendor Text `json:"vendor"`
	Model  Text `json:"model"`
	// Microcode is the revision of the CPU's microcode, on x86. A hypervisor may show a made-up
	// one.
	Microcode Text `json:"microcode"`

	// CPUs is the number of CPUs on which this process may run, and CPUList lists them in the
	// kernel's format ("0-3,8"). CPUs is 0 only if [Read] could not know it. CPUsOnline is the
	// number of CPUs of the whole machine.
	CPUs       int  `json:"cpus"`
	CPUList    Text `json:"cpu_list"`
	CPUsOnline *int `json:"cpus_online"`
	// SMT says whether CPUs share a core with a sibling that is online. In a virtual machine it is
	// what the hypervisor shows, which may differ from the host.
	SMT *bool `json:"smt"`

	// TSCHz and CoreHz are the rates of the time stamp counter and of the core. The code that calibrates sets
	// them, not this package.
	TSCHz  *float64 `json:"tsc_hz"`
	CoreHz *float64 `json:"core_hz"`
	// TickHz is the rate of the kernel's timer interrupt (CONFIG_HZ).
	TickHz *float64 `json:"tick_hz"`
	// Governor decides on the CPUs' frequency and FrequencyDriver sets it. If they differ between
	// CPUs, all are named, joined by commas.
	Governor        Text `json:"governor"`
	FrequencyDriver Text `json:"frequency_driver"`

	// Clocksource is the hardware counter behind the kernel's clocks; Clocksources lists the counters that the
	// kernel could use.
	Clocksource  Text   `json:"clocksource"`
	Clocksources []Text `json:"clocksources"`
	// CounterParameter is the boot parameter that keeps the kernel from using the processor's counter; empty if there is
	// none.
	CounterParameter Text `json:"-"`

	// Hypervisor is the name of the hypervisor that runs this machine, or "none" if the CPU shows
	// none. Container is the kind of container that this process is in, or "none" if there is no
	// sign of one.
	Hypervisor Text `json:"hypervisor"`
	Container  Text `json:"container"`
	// Emulated says that an emulator runs this program, because it was built for another
	// architecture than the CPU's.
	Emulated bool `json:"emulated"`

	// CPULimit is the strictest CPU bandwidth limit of the control groups that this process is in;
	// nil if there is none.
	CPULimit *CPULimit `json:"cpu_limit"`
	// PerfEventParanoid is the kernel's restriction on perf events, from -1
	// (none) to 2 and beyond (Documentation/admin-guide/sysctl/kernel.rst).
	PerfEventParanoid *int `json:"perf_event_paranoid"`
	// Load1 is the load average of the last minute, over the whole machine.
	Load1 *float64 `json:"load1"`
	// Running is the number of threads of other processes that ran or waited for a CPU, the mean
	// of several looks; nil before [Machine.WatchRunning].
	Running *float64 `json:"-"`

	Kernel Text `json:"kernel"` // release of the operating system's kernel
	OS     Text `json:"os"`     // Go's name of the operating system
	Arch   Text `json:"arch"`   // Go's name of the architecture for which this process was built
	Go     Text `json:"go"`     // version of Go that built this process

	// Caveats says why a field is empty, and what limits the meaning of other fields.
	Caveats []string `json:"-"`
}

// Virtual reports whether a hypervisor is known to run this machine.
func (m *Machine) Virtual() bool { return m.Hypervisor != "" && m.Hypervisor != "none" }

// Text is a fact about a machine. It is empty, and then null in JSON, if it could not be read.
type Text string

// MarshalJSON writes null for an empty text.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Identify describes the machine on which this process runs. It asks the CPU and the system
// first, and reads the rest from the files of /proc and /sys, because a container may hide the
// files or show another machine's.
//
// CPUs and CPUList are those of the calling thread: call Identify before the thread is pinned.
func Identify() *Machine {
	m := &Machine{OS: Text(runtime.GOOS), Arch: Text(runtime.GOARCH), Go: Text(runtime.Version())}
	m.askCPU()
	m.askSystem()
	if m.CPUs == 0 {
		m.CPUs = runtime.NumCPU()
	}
	m.read(os.DirFS("/"))
	return m
}

// Read describes the Linux machine whose /proc and /sys are below root, for a process of the
// architecture arch (Go's name for it). Fields that only the CPU or a system call can tell stay
// empty.
func Read(root fs.FS, arch string) *Machine {
	m := &Machine{OS: "linux", Arch: Text(arch)}
	m.read(root)
	return m
}

// read sets the fields that are still empty from the files below root, and adds caveats on the
// fields that stay empty.
func (m *Machine) read(root fs.FS) {
	if m.OS != "linux" {
		m.caveat("clocksource, governor, timer tick, SMT, CPU limit, container, perf events: they are known on Linux only, this is %s", m.OS)
		return
	}
	f := files{root}
	m.readCPU(f)
	m.readCPUs(f)
	m.readClocksource(f)
	m.readHypervisor(f)
	m.readSMT(f)
	m.readFrequency(f)
	m.readContainer(f)
	m.readCPULimit(f)
	m.readKernel(f)
	m.readLoad(f)
}

// caveat adds a caveat on an empty field, or on the limits of another one. It removes control characters,
// because names and values in the text come from outside.
func (m *Machine) caveat(format string, args ...any) {
	text := plain(fmt.Sprintf(format, args...))
	if !slices.Contains(m.Caveats, text) {
		m.Caveats = append(m.Caveats, text)
	}
}

// topics lists the topics of caveats that say that something is not known. It lacks the topic
// "CPU", whose caveat says that the CPU is an emulated one.
var topics = []string{
	"CPU name and microcode", "CPU name", "microcode", "CPUs online", "CPUs that this process may use", "CPU list", "CPU limit", "SMT",
	"governor", "frequency driver", "clocksource", "available clocksources", "hypervisor", "container", "kernel", "timer tick",
	"perf_event_paranoid", "load average", "threads that run",
}

// UnknownTopic returns the topic of a caveat that says that something about the machine is not
// known; ok is false for other caveats. It serves to find the machine's caveats among all caveats
// of a record.
func UnknownTopic(caveat string) (topic string, ok bool) {
	topic, _, named := strings.Cut(caveat, ": ")
	return topic, named && slices.Contains(topics, topic)
}

// plain returns text without the characters that can't be printed.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}
