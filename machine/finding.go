package machine

import (
	"fmt"
	"slices"
	"strings"
)

// Severity grades a finding.
type Severity string

// The severities, from harmless to grave.
const (
	OK      Severity = "ok"      // as it should be
	Note    Severity = "note"    // to be kept in mind
	Warning Severity = "warning" // spoils measurements
)

// Finding is a property of the machine that affects measurements.
type Finding struct {
	Topic    string   `json:"topic"`
	Severity Severity `json:"severity"`
	Seen     string   `json:"seen"`   // what was found
	Effect   string   `json:"effect"` // what it does to a measurement; empty when ok
	Fix      string   `json:"fix"`    // what to do about it; empty when ok
}

// WorstFirst sorts findings by severity; findings of the same severity keep their order.
func WorstFirst(all []Finding) []Finding {
	order := []Severity{Warning, Note, OK}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	return all
}

// judges answer the questions of [Machine.Findings]; nil means that the question does not apply.
var judges = []struct {
	topic string
	judge func(*Machine) *Finding
}{
	{"load", judgeLoad}, {"cpus", judgeCPUs}, {"cpu-limit", judgeCPULimit}, {"clocksource", judgeClocksource},
	{"governor", judgeGovernor}, {"smt", judgeSMT}, {"hypervisor", judgeHypervisor}, {"sandbox", judgeSandbox},
	{"emulation", judgeEmulation},
}

// Findings returns the properties of the machine that an engineer should know before a
// measurement. It returns none about what could not be read; a caveat says that.
func (m *Machine) Findings() []Finding {
	findings := []Finding{}
	for _, j := range judges {
		if f := j.judge(m); f != nil {
			f.Topic = j.topic
			findings = append(findings, *f)
		}
	}
	return findings
}

// judgeLoad judges by the threads that run now if those were counted, and otherwise by the load
// average.
func judgeLoad(m *Machine) *Finding {
	if m.CPUsOnline == nil || m.Load1 == nil && m.Running == nil {
		return nil
	}
	var parts []string
	var load float64
	fix := "stop what else runs (top shows it), wait a minute, and look again"
	if m.Load1 != nil {
		load = *m.Load1
		parts = append(parts, fmt.Sprintf("load average of the last minute %.2f", load))
	}
	if m.Running != nil {
		load = *m.Running
		parts = append([]string{fmt.Sprintf("%.2g threads of others run or wait for a CPU now", load)}, parts...)
		fix = "stop what else runs (top shows it), and look again"
	}
	seen := strings.Join(parts, ", ") + " on " + count(*m.CPUsOnline, "CPU")
	switch cpus := float64(*m.CPUsOnline); {
	case load >= cpus:
		return spoiling(seen, "the measured thread has to share its CPU, so wall time holds the turns of others", fix)
	case load > cpus/2:
		return worthNoting(seen, "the measured thread is now and then pushed off its CPU, and caches and clock speed are shared", fix)
	}
	return fine(seen)
}

func judgeCPUs(m *Machine) *Finding {
	seen := count(m.CPUs, "CPU") + " usable by this process"
	switch m.CPUs {
	case 0:
		return nil
	case 1:
		return worthNoting(seen, "whatever else runs takes its turn on the measured CPU, and clocks can't be compared across CPUs",
			"give the process a second CPU (taskset, cpuset, or a larger machine)")
	}
	return fine(seen)
}

func judgeCPULimit(m *Machine) *Finding {
	limit := m.CPULimit
	if limit == nil {
		return nil
	}
	periodMs := limit.PeriodNs / 1e6
	seen := fmt.Sprintf("a control group limits CPU time to %.4g CPUs in each %.4g ms", limit.CPUs, periodMs)
	if limit.CPUs < float64(m.CPUs) || m.CPUs == 0 {
		return spoiling(seen, fmt.Sprintf("once the group's threads have used %.4g ms of CPU time, all stop until the next period", limit.CPUs*periodMs),
			"raise the limit (cpu.max, docker run --cpus, a pod's limits.cpu), or keep single measurements shorter than that")
	}
	return fine(seen)
}

// quickClocksources holds, by architecture, the clocksources that the vDSO reads without a system
// call: the hardware counter and the pages that hypervisors share (the VDSO_CLOCKMODE_ and
// VCLOCK_ values of the kernel).
var quickClocksources = map[Text][]Text{
	"amd64": {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"},
	"arm64": {"arch_sys_counter"},
}

func judgeClocksource(m *Machine) *Finding {
	quick, known := quickClocksources[m.Arch]
	if m.Clocksource == "" || !known || m.Emulated {
		return nil
	}
	counter := quick[0]
	seen := fmt.Sprintf("the kernel's clocks rest on %s", m.Clocksource)
	switch {
	case m.Clocksource == counter:
		return fine(seen)
	case slices.Contains(quick, m.Clocksource):
		return worthNoting(seen, "a reading takes longer, and the clock need not agree with the counter that programs read", clocksourceFix(m, counter))
	}
	return spoiling(seen, "each reading of a clock is a system call and may wait for a device: hundreds of ns to some µs", clocksourceFix(m, counter))
}

func clocksourceFix(m *Machine, counter Text) string {
	if slices.Contains(m.Clocksources, counter) {
		return fmt.Sprintf("as root: echo %s > /sys/devices/system/clocksource/clocksource0/current_clocksource", counter)
	}
	if m.CounterParameter != "" {
		return fmt.Sprintf("start the system without the boot parameter %s, if you may: it keeps %s away", m.CounterParameter, counter)
	}
	return fmt.Sprintf("find out why the kernel does not offer %s: dmesg | grep -i -e clocksource -e %[1]s", counter)
}

// judgeGovernor warns of powersave only if it means the lowest frequency. With drivers for
// processors that choose their frequency themselves, powersave is an ordinary dynamic policy
// (Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst).
func judgeGovernor(m *Machine) *Finding {
	if m.Governor == "" {
		return nil
	}
	seen := fmt.Sprintf("frequency governor %s", m.Governor)
	if m.FrequencyDriver != "" {
		seen += fmt.Sprintf(" of driver %s", m.FrequencyDriver)
	}
	const fix = "as root: cpupower frequency-set -g performance"
	switch {
	case m.Governor == "performance":
		return fine(seen)
	case m.slowedDown():
		return spoiling(seen, "the core stays at its lowest frequency: everything takes longer than it would in production", fix)
	}
	return worthNoting(seen, "the core's frequency follows the load: the first milliseconds of a measurement run slower", fix)
}

func (m *Machine) slowedDown() bool {
	if m.FrequencyDriver == "intel_pstate" || strings.HasPrefix(string(m.FrequencyDriver), "amd-pstate-epp") {
		return false
	}
	return slices.Contains(strings.Split(string(m.Governor), ","), "powersave")
}

func judgeSMT(m *Machine) *Finding {
	if m.SMT == nil {
		return nil
	}
	switch {
	case *m.SMT:
		return worthNoting("CPUs share cores (SMT is active)", "a busy sibling takes up to half of the core, which no counter of waiting time shows",
			"keep the sibling idle (lscpu -e shows which), or as root: echo off > /sys/devices/system/cpu/smt/control")
	case m.virtual():
		return fine("no two CPUs share a core, as far as the hypervisor shows")
	}
	return fine("no two CPUs share a core")
}

func judgeHypervisor(m *Machine) *Finding {
	switch {
	case m.Hypervisor == "":
		return nil
	case !m.virtual():
		return fine("no hypervisor below")
	}
	seen, effect := "a virtual machine", "the host takes CPU time and interrupts without this system's knowledge, may share the core with a neighbour, and rarely lends its performance counters"
	if strings.Contains(string(m.Hypervisor), nested) {
		seen += " within a virtual machine"
		effect += "; what the outer host takes is not even counted as steal"
	}
	return worthNoting(fmt.Sprintf("%s (hypervisor: %s)", seen, m.Hypervisor), effect,
		"repeat at other times and heed the verdicts; for the last percent use a bare-metal or dedicated host")
}

// judgeSandbox tells of a kernel that is itself a program: gVisor names itself in its release.
func judgeSandbox(m *Machine) *Finding {
	if !strings.Contains(string(m.Kernel), "gvisor") {
		return nil
	}
	return spoiling("gVisor, a sandbox, answers the system calls, and not Linux",
		"these take many times as long as on Linux, and how long a program waited for a CPU is not told: its time is known between wide bounds",
		"measure outside of the sandbox, as with runc, the usual runtime of containers")
}

func judgeEmulation(m *Machine) *Finding {
	const effect = "instructions and counters are the emulator's: no time here says anything about real hardware"
	switch {
	case m.Emulated:
		return spoiling(fmt.Sprintf("an emulator runs this %s program on another CPU", m.Arch), effect, "use a chronoscope that is built for this machine's CPU")
	case m.Hypervisor == emulator:
		return spoiling("QEMU emulates this machine's CPUs", effect, "let the host's KVM run the machine (qemu -accel kvm)")
	}
	return nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
