package machine

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// askCPU sets what the CPU says about itself: on x86 by the CPUID instruction, elsewhere what the
// system passes on.
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

// narrow holds, by an architecture of 32 bits, the one whose CPUs run its programs without an emulator.
var narrow = map[Text]Text{"386": "amd64", "arm": "arm64"}

// readCPU sets what /proc/cpuinfo says about the CPUs.
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
	if arch := cpus[0].arch(); arch != "" && m.Arch != arch && narrow[m.Arch] != arch {
		m.Emulated = true
		m.caveat("CPU: this program was built for %s and the CPU is of %s: an emulator stands between, whose speed is measured", m.Arch, arch)
	}
	m.describeCPU(cpus)
}

// describeCPU sets the identification of the CPUs from the blocks of /proc/cpuinfo. If there are
// several kinds of CPUs, as in big.LITTLE, it names all of them.
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
	told := cpus[0].hypervisor()
	fill(&m.Hypervisor, told)
	if told == unknownHypervisor && m.Hypervisor == noHypervisor {
		m.Hypervisor = told // a paravirtual guest, whose kernel knows, and whose CPUID is the processor's
	}
}

func fill(field *Text, value Text) {
	if *field == "" {
		*field = value
	}
}

// joined calls say for each CPU and returns the different answers, in the order of the CPUs.
func joined(cpus []cpuInfo, say func(cpuInfo) Text) Text {
	var said []string
	for _, cpu := range cpus {
		if s := string(say(cpu)); s != "" && !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	return Text(strings.Join(said, ", "))
}

// cleaned returns s with each run of white space and NULs replaced by one space, and with none at its ends. It
// returns an empty text if the result is not printable.
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
