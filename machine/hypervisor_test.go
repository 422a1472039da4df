package machine

import (
	"testing"
	"testing/fstest"
)

func TestHypervisorOfVendor(t *testing.T) {
	for signature, want := range map[string]Text{
		"KVMKVMKVM\x00\x00\x00": "kvm", // Documentation/virt/kvm/x86/cpuid.rst
		"Microsoft Hv":          "hyperv",
		"bhyve bhyve ":          "bhyve",
		" lrpepyh  vr":          "parallels", // the bytes of "prl hyperv" in wrong order
		"SomethingNew":          "SomethingNew",
		"":                      "unknown",
		"\x1b[2J\x00\x00":       "unknown",
	} {
		if got := hypervisorOfVendor(signature); got != want {
			t.Errorf("%q: %q, want %q", signature, got, want)
		}
	}
}

func TestReadHypervisor(t *testing.T) {
	const vendor, product = "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"
	for name, c := range map[string]struct {
		files map[string]string
		cpu   Text // what the CPU says
		want  Text
	}{
		"the CPU has named it":        {map[string]string{"sys/hypervisor/type": "xen\n"}, "kvm", "kvm"},
		"the CPU sees none":           {map[string]string{vendor: "QEMU\n"}, "none", "none"},
		"seen, and named by firmware": {map[string]string{vendor: "QEMU\n", product: "Standard PC (Q35 + ICH9, 2009)\n"}, "unknown", "qemu"},
		"seen, and not named":         {nil, "unknown", "unknown"},
		"xen":                         {map[string]string{"sys/hypervisor/type": "xen\n"}, "", "xen"},
		"KVM in the product":          {map[string]string{vendor: "QEMU\n", product: "KVM Virtual Machine\n"}, "", "kvm"},
		"Graviton":                    {map[string]string{vendor: "Amazon EC2\n", product: "m7g.large\n"}, "", "amazon-nitro"},
		"Graviton, bare metal":        {map[string]string{vendor: "Amazon EC2\n", product: "m7g.metal\n"}, "", "none"},
		"Azure":                       {map[string]string{vendor: "Microsoft Corporation\n", product: "Virtual Machine\n"}, "", "hyperv"},
		"QEMU virt":                   {map[string]string{"proc/device-tree/compatible": "linux,dummy-virt\x00"}, "", "qemu"},
		"a board":                     {map[string]string{"proc/device-tree/compatible": "raspberrypi,4-model-b\x00brcm,bcm2711\x00"}, "", ""},
	} {
		tree := fstest.MapFS{}
		for file, content := range c.files {
			tree[file] = &fstest.MapFile{Data: []byte(content)}
		}
		m := &Machine{Hypervisor: c.cpu}
		m.readHypervisor(files{tree})
		if m.Hypervisor != c.want {
			t.Errorf("%s: %q, want %q", name, m.Hypervisor, c.want)
		}
		if (m.Hypervisor == "") != (len(m.Caveats) == 1) {
			t.Errorf("%s: %q with caveats %q", name, m.Hypervisor, m.Caveats)
		}
	}
}

// A guest of PVM was called a guest of the hypervisor below, or no guest at all: CPUID is not intercepted there.
func TestHypervisorOfTheKernel(t *testing.T) {
	for cpu, want := range map[Text]Text{"bhyve": "kvm on bhyve", "none": "kvm", "unknown": "kvm", "": "kvm", "kvm": "kvm", "hyperv": "kvm", "xen": "kvm"} {
		m := &Machine{Hypervisor: cpu, Clocksources: []Text{"kvm-clock"}}
		m.readHypervisor(files{fstest.MapFS{}})
		if m.Hypervisor != want {
			t.Errorf("CPUID says %q: %q, want %q", cpu, m.Hypervisor, want)
		}
	}
	m := &Machine{Arch: "amd64", Hypervisor: noHypervisor}
	m.readCPU(files{fstest.MapFS{"proc/cpuinfo": {Data: []byte("processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nflags : fpu hypervisor\n")}}})
	if m.Hypervisor != unknownHypervisor {
		t.Errorf("the kernel knows of a hypervisor: %q", m.Hypervisor)
	}
}

func TestReadContainer(t *testing.T) {
	for _, c := range []struct {
		file, content string
		want          Text
	}{
		{"run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"},
		{"run/.containerenv", "", "podman"},
		{".dockerenv", "", "docker"},
		{"proc/self/cgroup", "0::/kubepods/burstable/pod1/2\n", "kubernetes"},
		{"proc/self/cgroup", "0::/system.slice/docker-4f2a.scope\n", "docker"},
		{"proc/self/cgroup", "0::/system.slice/docker.service\n", "none"}, // the docker daemon itself runs outside a container
		{"proc/self/cgroup", "0::/user.slice\n", "none"},
		{"proc/version", "Linux\n", ""},
	} {
		m := &Machine{}
		m.readContainer(files{fstest.MapFS{c.file: {Data: []byte(c.content)}}})
		if m.Container != c.want || (m.Container == "") != (len(m.Caveats) == 1) {
			t.Errorf("/%s with %q: %q, want %q; caveats %q", c.file, c.content, m.Container, c.want, m.Caveats)
		}
	}
}
