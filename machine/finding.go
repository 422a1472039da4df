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

// Finding is something about the machine that bears on measurements.
type Finding struct {
	Topic    string   `json:"topic"`
	Severity Severity `json:"severity"`
	Seen     string   `json:"seen"`   // what was found
	Effect   string   `json:"effect"` // what it does to a measurement; empty when ok
	Fix      string   `json:"fix"`    // what to do about it; empty when ok
}

// worstFirst sorts findings by their severity; those of one severity keep their order.
func worstFirst(all []Finding) []Finding {
	order := []Severity{Warning, Note, OK}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	return all
}

// Findings says what of the machine an engineer ought to know before a
// measurement. What could not be had gives none: the caveats tell of it.
func (m *Machine) Findings() []Finding {
	findings := []Finding{}
	for _, judge := range []func(*Machine) *Finding{
		judgeLoad, judgeCPUs, judgeCPULimit, judgeClocksource, judgeGovernor, judgeSMT, judgeHypervisor, judgeEmulation,
	} {
		if f := judge(m); f != nil {
			findings = append(findings, *f)
		}
	}
	return findings
}

// judgeLoad goes by what runs now where that was looked at, and else by the load average.
func judgeLoad(m *Machine) *Finding {
	if m.CPUsOnline == nil || m.Load1 == nil && m.Running == nil {
		return nil
	}
	var seen []string
	var load float64
	fix := "stop what else runs (top shows it), wait a minute, and look again"
	if m.Load1 != nil {
		load = *m.Load1
		seen = append(seen, fmt.Sprintf("load average of the last minute %.2f", load))
	}
	if m.Running != nil {
		load = *m.Running
		seen = append([]string{fmt.Sprintf("%.2g threads of others run or wait for a CPU now", load)}, seen...)
		fix = "stop what else runs (top shows it), and look again"
	}
	f := Finding{Topic: "load", Severity: OK, Seen: strings.Join(seen, ", ") + " on " + count(*m.CPUsOnline, "CPU")}
	switch cpus := float64(*m.CPUsOnline); {
	case load >= cpus:
		f.Severity, f.Fix = Warning, fix
		f.Effect = "the measured thread has to share its CPU, so wall time holds the turns of others"
	case load > cpus/2:
		f.Severity, f.Fix = Note, fix
		f.Effect = "the measured thread is now and then pushed off its CPU, and caches and clock speed are shared"
	}
	return &f
}

func judgeCPUs(m *Machine) *Finding {
	if m.CPUs == 0 {
		return nil
	}
	f := Finding{Topic: "cpus", Severity: OK, Seen: count(m.CPUs, "CPU") + " usable by this process"}
	if m.CPUs == 1 {
		f.Severity = Note
		f.Effect = "whatever else runs takes its turn on the measured CPU, and clocks can't be compared across CPUs"
		f.Fix = "give the process a second CPU (taskset, cpuset, or a larger machine)"
	}
	return &f
}

func judgeCPULimit(m *Machine) *Finding {
	limit := m.CPULimit
	if limit == nil {
		return nil
	}
	periodMs := limit.PeriodNs / 1e6
	f := Finding{Topic: "cpu-limit", Severity: OK, Seen: fmt.Sprintf("a control group limits CPU time to %.4g CPUs in each %.4g ms", limit.CPUs, periodMs)}
	if limit.CPUs < float64(m.CPUs) || m.CPUs == 0 {
		f.Severity = Warning
		f.Effect = fmt.Sprintf("once the group's threads have used %.4g ms of CPU time, all stop until the next period", limit.CPUs*periodMs)
		f.Fix = "raise the limit (cpu.max, docker run --cpus, a pod's limits.cpu), or keep single measurements shorter than that"
	}
	return &f
}

// quickClocksources are those that the vDSO reads without a system call, by
// architecture: besides the hardware counter the pages that hypervisors share
// (the VDSO_CLOCKMODE_ and VCLOCK_ values of the kernel).
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
	f := Finding{Topic: "clocksource", Severity: OK, Seen: fmt.Sprintf("the kernel's clocks rest on %s", m.Clocksource)}
	switch {
	case m.Clocksource == counter:
		return &f
	case slices.Contains(quick, m.Clocksource):
		f.Severity = Note
		f.Effect = "a reading takes longer, and the clock need not agree with the counter that programs read"
	default:
		f.Severity = Warning
		f.Effect = "each reading of a clock is a system call and may wait for a device: hundreds of ns to some µs"
	}
	f.Fix = clocksourceFix(m, counter)
	return &f
}

func clocksourceFix(m *Machine, counter Text) string {
	if slices.Contains(m.Clocksources, counter) {
		return fmt.Sprintf("as root: echo %s > /sys/devices/system/clocksource/clocksource0/current_clocksource", counter)
	}
	return fmt.Sprintf("find out why the kernel does not offer %s: dmesg | grep -i -e clocksource -e %[1]s", counter)
}

// judgeGovernor warns of powersave only where it means the lowest frequency.
// Under drivers whose processors choose for themselves it is an ordinary dynamic
// policy (Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst).
func judgeGovernor(m *Machine) *Finding {
	if m.Governor == "" {
		return nil
	}
	f := Finding{Topic: "governor", Severity: OK, Seen: fmt.Sprintf("frequency governor %s", m.Governor)}
	if m.FrequencyDriver != "" {
		f.Seen += fmt.Sprintf(" of driver %s", m.FrequencyDriver)
	}
	if m.Governor == "performance" {
		return &f
	}
	f.Severity = Note
	f.Effect = "the core's frequency follows the load: the first milliseconds of a measurement run slower"
	f.Fix = "as root: cpupower frequency-set -g performance"
	if m.slowedDown() {
		f.Severity = Warning
		f.Effect = "the core stays at its lowest frequency: everything takes longer than it would in production"
	}
	return &f
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
	if !*m.SMT {
		f := Finding{Topic: "smt", Severity: OK, Seen: "no two CPUs share a core"}
		if m.virtual() {
			f.Seen += ", as far as the hypervisor shows"
		}
		return &f
	}
	return &Finding{
		Topic: "smt", Severity: Note, Seen: "CPUs share cores (SMT is active)",
		Effect: "a busy sibling takes up to half of the core, which no counter of waiting time shows",
		Fix:    "keep the sibling idle (lscpu -e shows which), or as root: echo off > /sys/devices/system/cpu/smt/control",
	}
}

func judgeHypervisor(m *Machine) *Finding {
	switch {
	case m.Hypervisor == "":
		return nil
	case !m.virtual():
		return &Finding{Topic: "hypervisor", Severity: OK, Seen: "no hypervisor below"}
	}
	return &Finding{
		Topic: "hypervisor", Severity: Note, Seen: fmt.Sprintf("a virtual machine (hypervisor: %s)", m.Hypervisor),
		Effect: "the host takes CPU time and interrupts without this system's knowledge, may share the core with a neighbour, and rarely lends its performance counters",
		Fix:    "repeat at other times and heed the verdicts; for the last percent use a bare-metal or dedicated host",
	}
}

func judgeEmulation(m *Machine) *Finding {
	if !m.Emulated {
		return nil
	}
	return &Finding{
		Topic: "emulation", Severity: Warning, Seen: fmt.Sprintf("an emulator runs this %s program on another CPU", m.Arch),
		Effect: "instructions and counters are the emulator's: no time here says anything about real hardware",
		Fix:    "use a chronoscope that is built for this machine's CPU",
	}
}

// count is a number with its noun: "1 CPU", "2 CPUs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
