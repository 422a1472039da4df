package machine

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// askCPU fills in what the CPU says of itself: on x86 by the CPUID instruction,
// elsewhere what the system hands on.
func (m *Machine) askCPU() {
	cpu := cpuid.CPU
	m.CPU = cleaned(cpu.BrandName)
	if runtime.GOARCH != "amd64" {
		return
	}
	m.Vendor = cleaned(cpu.VendorString)
	m.Model = x86Model(strconv.Itoa(cpu.Family), strconv.Itoa(cpu.Model), strconv.Itoa(cpu.Stepping))
	m.Hypervisor = noHypervisor
	if cpu.Supports(cpuid.HYPERVISOR) {
		m.Hypervisor = hypervisorOfVendor(cpu.HypervisorVendorString)
	}
}

// readCPU fills in what /proc/cpuinfo says of the CPUs.
func (m *Machine) readCPU(f files) {
	text, err := f.text("proc/cpuinfo")
	if err != nil {
		if m.CPU == "" || m.Arch == "amd64" && m.Microcode == "" {
			m.caveat("CPU name and microcode: %v; mount /proc to have them", err)
		}
		return
	}
	cpus := parseCPUInfo(text)
	m.countOnline(len(cpus))
	if len(cpus) == 0 {
		m.caveat("CPU name: /proc/cpuinfo lists no processor")
		return
	}
	if arch := cpus[0].arch(); arch != "" && m.Arch != arch {
		m.Emulated = true
		m.caveat("CPU: this program was built for %s and the CPU is of %s: an emulator stands between, whose speed is measured", m.Arch, arch)
	}
	m.describeCPU(cpus)
}

// describeCPU takes over the identification of the CPUs that /proc/cpuinfo
// lists. CPUs of several kinds, as in big.LITTLE, are all named.
func (m *Machine) describeCPU(cpus []cpuInfo) {
	fill(&m.CPU, joined(cpus, cpuInfo.name))
	fill(&m.Vendor, joined(cpus, cpuInfo.vendor))
	fill(&m.Model, joined(cpus, cpuInfo.model))
	fill(&m.Microcode, joined(cpus, func(c cpuInfo) Text { return cleaned(c["microcode"]) }))
	if m.CPU == "" {
		m.caveat("CPU name: /proc/cpuinfo gives none that is known")
	}
	if m.Microcode == "" {
		m.caveat("microcode: /proc/cpuinfo does not show its revision on this machine")
	}
	fill(&m.Hypervisor, cpus[0].hypervisor())
}

// fill sets a text that is still empty.
func fill(field *Text, value Text) {
	if *field == "" {
		*field = value
	}
}

// joined is what the CPUs say, each saying once, in their order.
func joined(cpus []cpuInfo, say func(cpuInfo) Text) Text {
	var said []string
	for _, cpu := range cpus {
		if s := string(say(cpu)); s != "" && !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	return Text(strings.Join(said, ", "))
}

// cleaned is a text from the CPU or a file without padding, empty where it can't
// stand in a report.
func cleaned(s string) Text {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "\x00", " ")), " ")
	if !printable(s) {
		return ""
	}
	return Text(s)
}

func x86Model(family, model, stepping string) Text {
	if family == "" || model == "" {
		return ""
	}
	text := fmt.Sprintf("family %s model %s", family, model)
	if stepping != "" {
		text += " stepping " + stepping
	}
	return cleaned(text)
}
