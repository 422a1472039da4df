package clock

// Leaves of CPUID that name rates: the TSC's own, the processor's, and the one
// that hypervisors took over from VMware (VMware, "Mechanisms to determine if
// software is running in a VMware virtual machine").
const (
	leafCrystal         = 0x15
	leafFrequency       = 0x16
	leafHypervisor      = 0x40000000
	leafHypervisorRates = 0x40000010
)

// processorRates is what CPUID says of the TSC.
func processorRates() []CrossCheck {
	last, _, _, _ := cpuid(0, 0)
	var checks []CrossCheck
	say := func(source string, hz float64) {
		if hz > 0 {
			checks = append(checks, CrossCheck{Source: source, Hz: hz})
		}
	}
	if last >= leafCrystal {
		denominator, numerator, crystalHz, _ := cpuid(leafCrystal, 0)
		if denominator != 0 {
			say("CPUID leaf 0x15 (crystal)", float64(crystalHz)*float64(numerator)/float64(denominator))
		}
	}
	if last >= leafFrequency {
		baseMHz, _, _, _ := cpuid(leafFrequency, 0)
		say("CPUID leaf 0x16 (base frequency)", float64(baseMHz&0xffff)*1e6)
	}
	say("CPUID leaf 0x40000010 (hypervisor)", 1e3*float64(hypervisorKHz()))
	return checks
}

// hypervisorKHz is 0 where there is no hypervisor, or it does not say.
func hypervisorKHz() uint32 {
	if _, _, ecx, _ := cpuid(leafFeatures, 0); ecx&featureHypervisor == 0 {
		return 0
	}
	if last, _, _, _ := cpuid(leafHypervisor, 0); last < leafHypervisorRates {
		return 0
	}
	khz, _, _, _ := cpuid(leafHypervisorRates, 0)
	return khz
}
