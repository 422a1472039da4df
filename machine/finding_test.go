package machine

import (
	"slices"
	"strings"
	"testing"
)

func TestFindings(t *testing.T) {
	limit := func(cpus float64) *CPULimit { return &CPULimit{CPUs: cpus, PeriodNs: 100e6} }
	for _, c := range []struct {
		name     string
		m        Machine
		topic    string
		severity Severity
		says     string // part of the finding's text
	}{
		{"idle", Machine{Load1: new(0.1), CPUsOnline: new(4)}, "load", OK, "0.10 on 4 CPUs"},
		{"half loaded", Machine{Load1: new(2.0), CPUsOnline: new(4)}, "load", OK, ""},
		{"more than half loaded", Machine{Load1: new(2.1), CPUsOnline: new(4)}, "load", Note, "top"},
		{"fully loaded", Machine{Load1: new(4.0), CPUsOnline: new(4)}, "load", Warning, "share its CPU"},
		{"one CPU, idle", Machine{Load1: new(0.0), CPUsOnline: new(1)}, "load", OK, "on 1 CPU"},

		{"two CPUs", Machine{CPUs: 2}, "cpus", OK, "2 CPUs"},
		{"one CPU", Machine{CPUs: 1}, "cpus", Note, "second CPU"},

		{"limit below the CPUs", Machine{CPUs: 2, CPULimit: limit(0.5)}, "cpu-limit", Warning, "used 50 ms"},
		{"limit beyond the CPUs", Machine{CPUs: 2, CPULimit: limit(2)}, "cpu-limit", OK, ""},
		{"limit, CPUs unknown", Machine{CPULimit: limit(8)}, "cpu-limit", Warning, ""},

		{"tsc", Machine{Arch: "amd64", Clocksource: "tsc"}, "clocksource", OK, "tsc"},
		{"kvm-clock, tsc to be had", Machine{Arch: "amd64", Clocksource: "kvm-clock", Clocksources: []Text{"kvm-clock", "tsc"}}, "clocksource", Note, "echo tsc >"},
		{"hpet, tsc given up", Machine{Arch: "amd64", Clocksource: "hpet", Clocksources: []Text{"hpet"}}, "clocksource", Warning, "dmesg"},
		{"kvm-clock, tsc ruled out", Machine{Arch: "amd64", Clocksource: "kvm-clock", CounterParameter: "tsc=unstable"}, "clocksource", Note, "without the boot parameter tsc=unstable"},
		{"arm64", Machine{Arch: "arm64", Clocksource: "arch_sys_counter"}, "clocksource", OK, ""},
		{"arm64, memory-mapped timer", Machine{Arch: "arm64", Clocksource: "arch_mmio_counter"}, "clocksource", Warning, "arch_sys_counter"},

		{"performance", Machine{Governor: "performance"}, "governor", OK, "performance"},
		{"schedutil", Machine{Governor: "schedutil", FrequencyDriver: "cpufreq-dt"}, "governor", Note, "performance"},
		{"powersave that means slow", Machine{Governor: "powersave", FrequencyDriver: "acpi-cpufreq"}, "governor", Warning, "lowest frequency"},
		{"powersave on some CPUs", Machine{Governor: "performance,powersave", FrequencyDriver: "acpi-cpufreq"}, "governor", Warning, ""},
		{"powersave that means dynamic, Intel", Machine{Governor: "powersave", FrequencyDriver: "intel_pstate"}, "governor", Note, ""},
		{"powersave that means dynamic, AMD", Machine{Governor: "powersave", FrequencyDriver: "amd-pstate-epp"}, "governor", Note, ""},
		{"powersave under intel_pstate's passive mode", Machine{Governor: "powersave", FrequencyDriver: "intel_cpufreq"}, "governor", Warning, ""},

		{"SMT", Machine{SMT: new(true)}, "smt", Note, "sibling"},
		{"no SMT", Machine{SMT: new(false), Hypervisor: "none"}, "smt", OK, "no two CPUs"},
		{"no SMT that a guest sees", Machine{SMT: new(false), Hypervisor: "kvm"}, "smt", OK, "as far as the hypervisor shows"},

		{"bare metal", Machine{Hypervisor: "none"}, "hypervisor", OK, ""},
		{"guest of a guest", Machine{Hypervisor: "kvm on bhyve"}, "hypervisor", Note, "outer host"},
		{"guest", Machine{Hypervisor: "kvm"}, "hypervisor", Note, "kvm"},

		{"emulated", Machine{Arch: "arm64", Emulated: true}, "emulation", Warning, "arm64"},
		{"emulated machine", Machine{Arch: "amd64", Hypervisor: "qemu-tcg"}, "emulation", Warning, "QEMU"},
		{"gVisor", Machine{Kernel: "4.19.0-gvisor"}, "sandbox", Warning, "gVisor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			findings := c.m.Findings()
			i := slices.IndexFunc(findings, func(f Finding) bool { return f.Topic == c.topic })
			if i < 0 {
				t.Fatalf("no finding on %s in %+v", c.topic, findings)
			}
			f := findings[i]
			if f.Severity != c.severity {
				t.Errorf("%+v, want %s %s", f, c.topic, c.severity)
			}
			if !strings.Contains(f.Seen+f.Effect+f.Fix, c.says) {
				t.Errorf("%+v does not say %q", f, c.says)
			}
			if complete := f.Effect != "" && f.Fix != ""; f.Seen == "" || complete == (f.Severity == OK) {
				t.Errorf("%+v: an effect and a fix belong to what isn't ok, and only to that", f)
			}
		})
	}
}

// The clocksource of an x86 host says nothing about an emulated arm64 machine.
func TestFindingsOfEmulation(t *testing.T) {
	m := Machine{Arch: "arm64", Emulated: true, Clocksource: "tsc"}
	if findings := m.Findings(); len(findings) != 1 || findings[0].Topic != "emulation" {
		t.Errorf("%+v", findings)
	}
}

// An unknown property leads to no finding.
func TestFindingsOfNothing(t *testing.T) {
	for _, m := range []Machine{
		{},
		{Load1: new(9.0)},
		{Clocksource: "timebase", Arch: "ppc64le"},
		{CPUsOnline: new(4)},
	} {
		if findings := m.Findings(); findings == nil || len(findings) != 0 {
			t.Errorf("%+v: %v, want an empty list", m, findings)
		}
	}
}
