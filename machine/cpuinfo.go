package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cpuInfo maps the keys of one processor's block of /proc/cpuinfo to their values. The keys
// differ between architectures (arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c).
type cpuInfo map[string]string

// parseCPUInfo returns the blocks of /proc/cpuinfo that describe a processor. It skips lines that
// it can't read.
func parseCPUInfo(text string) []cpuInfo {
	var cpus []cpuInfo
	var current cpuInfo
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || key == "" {
			continue
		}
		if _, err := strconv.ParseUint(value, 10, 32); key == "processor" && err == nil {
			current = cpuInfo{}
			cpus = append(cpus, current)
		}
		if current != nil {
			current[key] = value
		}
	}
	return cpus
}

// arch returns Go's name of the architecture whose kernel wrote the block, or "" if it is not
// recognised.
func (c cpuInfo) arch() Text {
	switch {
	case c["vendor_id"] != "" && c["cpu family"] != "":
		return "amd64"
	case c["CPU implementer"] != "" && c["CPU architecture"] == "8":
		return "arm64"
	}
	return ""
}

// hypervisor says whether an x86 CPU has the bit that hypervisors set. It is empty for other
// CPUs, which have no such bit.
func (c cpuInfo) hypervisor() Text {
	switch {
	case c.arch() != "amd64":
		return ""
	case slices.Contains(strings.Fields(c["flags"]), "hypervisor"):
		return unknownHypervisor
	}
	return noHypervisor
}

// name returns the CPU's commercial name, or, for an arm64 CPU, the name of its core.
func (c cpuInfo) name() Text {
	if name := cleaned(c["model name"]); name != "" {
		return name
	}
	implementer, errI := parseHex(c["CPU implementer"])
	part, errP := parseHex(c["CPU part"])
	if errI != nil || errP != nil {
		return ""
	}
	if core, ok := armCores[armCore{implementer, part}]; ok {
		return Text(core)
	}
	return Text(fmt.Sprintf("%s CPU part 0x%03x", c.vendor(), part))
}

// vendor returns the CPU's maker: the vendor string of CPUID, or the owner of the Arm
// implementer code.
func (c cpuInfo) vendor() Text {
	if vendor := cleaned(c["vendor_id"]); vendor != "" {
		return vendor
	}
	code, err := parseHex(c["CPU implementer"])
	if err != nil {
		return ""
	}
	if name, ok := armImplementers[code]; ok {
		return Text(name)
	}
	return Text(fmt.Sprintf("implementer 0x%02x", code))
}

// model returns the CPU's identification numbers.
func (c cpuInfo) model() Text {
	if c["CPU implementer"] == "" {
		return x86Model(c["cpu family"], c["model"], c["stepping"])
	}
	return cleaned(fmt.Sprintf("implementer %s part %s variant %s revision %s",
		c["CPU implementer"], c["CPU part"], c["CPU variant"], c["CPU revision"]))
}

// parseHex reads a number such as 0x41.
func parseHex(s string) (uint64, error) { return strconv.ParseUint(s, 0, 16) }
