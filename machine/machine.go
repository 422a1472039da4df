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

// Machine describes one machine as one process sees it. A field that could not
// be had is empty, in JSON null, and its reason stands in Caveats.
type Machine struct {
	// CPU is the processor's name as sold, Vendor who made it, and Model its
	// identification numbers (family, model, stepping; on arm64 implementer,
	// part, variant, revision).
	CPU    Text `json:"cpu"`
	Vendor Text `json:"vendor"`
	Model  Text `json:"model"`
	// Microcode is the revision of the CPU's microcode, on x86. A hypervisor may
	// make it up.
	Microcode Text `json:"microcode"`

	// CPUs counts the CPUs that this process may run on, which CPUList lists in
	// the kernel's form ("0-3,8"); it is 0 only where [Read] could not know it.
	// CPUsOnline counts those of the whole machine.
	CPUs       int  `json:"cpus"`
	CPUList    Text `json:"cpu_list"`
	CPUsOnline *int `json:"cpus_online"`
	// SMT says whether CPUs share a core with a sibling that is online. In a
	// virtual machine it is what the hypervisor shows, not what the host does.
	SMT *bool `json:"smt"`

	// TSCHz and CoreHz are the rates of the time stamp counter and of the core.
	// They are measured, never read: who calibrates fills them in.
	TSCHz  *float64 `json:"tsc_hz"`
	CoreHz *float64 `json:"core_hz"`
	// TickHz is the rate of the kernel's timer interrupt (CONFIG_HZ).
	TickHz *float64 `json:"tick_hz"`
	// Governor decides the CPUs' frequency and FrequencyDriver sets it. Where the
	// CPUs differ, all are named, joined by commas.
	Governor        Text `json:"governor"`
	FrequencyDriver Text `json:"frequency_driver"`

	// Clocksource is what the kernel's clocks rest on, and Clocksources what
	// they could rest on.
	Clocksource  Text   `json:"clocksource"`
	Clocksources []Text `json:"clocksources"`

	// Hypervisor names the hypervisor below, and is "none" where the CPU shows
	// none. Container names the kind of container around this process, and is
	// "none" where there is no sign of one.
	Hypervisor Text `json:"hypervisor"`
	Container  Text `json:"container"`
	// Emulated says that the program was built for another architecture than the
	// CPU's, so that an emulator runs it.
	Emulated bool `json:"emulated"`

	// CPULimit is the strictest CPU bandwidth limit of the control groups that
	// hold this process; nil where there is none.
	CPULimit *CPULimit `json:"cpu_limit"`
	// PerfEventParanoid is the kernel's restriction on perf events, from -1
	// (none) to 2 and beyond (Documentation/admin-guide/sysctl/kernel.rst).
	PerfEventParanoid *int `json:"perf_event_paranoid"`
	// Load1 is the load average of the last minute, over the whole machine.
	Load1 *float64 `json:"load1"`
	// Running is how many threads of other processes ran or waited for a CPU, the mean of
	// several looks; nil where [Machine.WatchRunning] has not looked.
	Running *float64 `json:"-"`

	Kernel Text `json:"kernel"` // release of the operating system's kernel
	OS     Text `json:"os"`     // Go's name of the operating system
	Arch   Text `json:"arch"`   // Go's name of the architecture this process runs as
	Go     Text `json:"go"`     // version of Go that built this process

	// Caveats says why a field is empty, and what limits the meaning of one that
	// is not.
	Caveats []string `json:"-"`
}

// Text is something a machine says of itself: empty where it could not be had,
// and then null in JSON.
type Text string

// MarshalJSON writes null for an empty text.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// Identify describes the machine that this process runs on. It asks the CPU and
// the system first and the files of /proc and /sys for the rest, since a
// container may hide those or show another machine's.
//
// CPUs and CPUList are those of the calling thread: call it before the thread is
// pinned.
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

// Read describes the Linux machine whose /proc and /sys lie below root, for a
// process of the architecture arch (Go's name for it). What only the CPU or a
// system call can tell stays empty.
func Read(root fs.FS, arch string) *Machine {
	m := &Machine{OS: "linux", Arch: Text(arch)}
	m.read(root)
	return m
}

// read fills from the files below root what is still empty, and notes what
// remains so.
func (m *Machine) read(root fs.FS) {
	if m.OS != "linux" {
		m.caveat("clocksource, governor, timer tick, SMT, CPU limit, container, perf events: they are known on Linux only, this is %s", m.OS)
		return
	}
	f := files{root}
	m.readCPU(f)
	m.readCPUs(f)
	m.readHypervisor(f)
	m.readSMT(f)
	m.readFrequency(f)
	m.readClocksource(f)
	m.readContainer(f)
	m.readCPULimit(f)
	m.readKernel(f)
	m.readLoad(f)
}

// caveat notes what an empty field lacks, or what a filled one does not say. The
// names and values in it come from outside and may hold control characters.
func (m *Machine) caveat(format string, args ...any) {
	text := plain(fmt.Sprintf(format, args...))
	if !slices.Contains(m.Caveats, text) {
		m.Caveats = append(m.Caveats, text)
	}
}

// topics are what a caveat may say is not known. One on "CPU" says that an emulator was
// measured, and stands by itself.
var topics = []string{
	"CPU name and microcode", "CPU name", "microcode", "CPUs online", "CPUs that this process may use", "CPU list", "CPU limit", "SMT",
	"governor", "frequency driver", "clocksource", "available clocksources", "hypervisor", "container", "kernel", "timer tick",
	"perf_event_paranoid", "load average", "threads that run",
}

// UnknownTopic returns the topic of a caveat that says that something of the machine is not known;
// ok is false for other caveats. A record holds the caveats of its machine among its own.
func UnknownTopic(caveat string) (topic string, ok bool) {
	topic, _, named := strings.Cut(caveat, ": ")
	return topic, named && slices.Contains(topics, topic)
}

// plain is text without what can't be printed.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}
