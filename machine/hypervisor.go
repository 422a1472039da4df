package machine

import (
	"maps"
	"slices"
	"strings"
)

// noHypervisor and noContainer say that no hypervisor or container was detected. An empty text says
// that it is not known whether there is one.
const (
	noHypervisor = Text("none")
	noContainer  = Text("none")
)

// nested stands between the name of a hypervisor and that of the hypervisor below it.
const nested = " on "

// unknownHypervisor is a hypervisor that did not tell its name.
const unknownHypervisor = Text("unknown")

// emulator is QEMU without the help of a hypervisor: its compiler translates each instruction.
const emulator Text = "qemu-tcg"

// hypervisorVendors maps the signatures in CPUID leaf 0x40000000 to hypervisors (for KVM
// Documentation/virt/kvm/x86/cpuid.rst).
var hypervisorVendors = map[string]Text{
	"ACRNACRNACRN": "acrn",
	"bhyve bhyve":  "bhyve",
	"KVMKVMKVM":    "kvm",
	"lrpepyh vr":   "parallels",
	"Microsoft Hv": "hyperv",
	"prl hyperv":   "parallels",
	"TCGTCGTCGTCG": emulator,
	"VBoxVBoxVBox": "virtualbox",
	"VMwareVMware": "vmware",
	"XenVMMXenVMM": "xen",
}

// hypervisorOfVendor returns the hypervisor with the given signature, or the signature itself if
// it is not known.
func hypervisorOfVendor(signature string) Text {
	vendor := cleaned(signature)
	if name, ok := hypervisorVendors[string(vendor)]; ok {
		return name
	}
	fill(&vendor, unknownHypervisor)
	return vendor
}

// platforms maps names that the firmware or the device tree gives the machine to hypervisors. The
// first entry that fits counts.
var platforms = []struct {
	sign string
	name Text
}{
	{"linux,kvm", "kvm"},
	{"KVM", "kvm"},
	{"linux,dummy-virt", "qemu"}, // QEMU's machine "virt", with or without KVM
	{"QEMU", "qemu"},
	{"xen", "xen"},
	{"Xen", "xen"},
	{"VMware", "vmware"},
	{"VirtualBox", "virtualbox"},
	{"Parallels", "parallels"},
	{"Apple Virtualization", "apple"},
	{"Microsoft Corporation Virtual Machine", "hyperv"},
	{"Google Compute Engine", "google-compute-engine"},
	{"Amazon EC2", "amazon-nitro"},
}

// imitated are the hypervisors whose signature KVM shows, on demand, before its own.
var imitated = []Text{"hyperv", "xen"}

// isVendor reports whether a name is that of a signature which is known.
func isVendor(name Text) bool {
	return slices.Contains(slices.Collect(maps.Values(hypervisorVendors)), name)
}

// readHypervisor looks for the name of a hypervisor in what the firmware and the kernel say, if
// the CPU did not tell it. If the kernel has the clock of KVM, KVM runs it. CPUID then names the hypervisor below KVM if
// KVM does not intercept that instruction, as PVM doesn't.
func (m *Machine) readHypervisor(f files) {
	if slices.Contains(m.Clocksources, "kvm-clock") {
		switch below := m.Hypervisor; {
		case below == "kvm":
		case m.virtual() && isVendor(below) && !slices.Contains(imitated, below):
			m.Hypervisor = "kvm" + nested + below
		default: // KVM may show any signature
			m.Hypervisor = "kvm"
		}
	}
	if m.Hypervisor != "" && m.Hypervisor != unknownHypervisor {
		return
	}
	name, err := f.value("sys/hypervisor/type")
	if err != nil {
		name = platformHypervisor(platformName(f))
	}
	switch {
	case name != "":
		m.Hypervisor = name
	case m.Hypervisor == "":
		m.caveat("hypervisor: neither the CPU nor the firmware nor the device tree names one, which does not prove that there is none")
	}
}

// platformName returns the names that the firmware (DMI) and the device tree give the machine.
func platformName(f files) string {
	var names []string
	for _, file := range []string{
		"sys/class/dmi/id/sys_vendor",
		"sys/class/dmi/id/product_name",
		"proc/device-tree/compatible",
		"proc/device-tree/hypervisor/compatible",
	} {
		if text, err := f.text(file); err == nil {
			names = append(names, string(cleaned(text)))
		}
	}
	return strings.Join(names, " ")
}

func platformHypervisor(name string) Text {
	if strings.Contains(name, "Amazon EC2") && strings.Contains(name, ".metal") {
		return noHypervisor
	}
	for _, p := range platforms {
		if strings.Contains(name, p.sign) {
			return p.name
		}
	}
	return ""
}

func (m *Machine) virtual() bool { return m.Hypervisor != "" && m.Hypervisor != noHypervisor }
