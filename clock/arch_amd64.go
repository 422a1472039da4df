package clock

import (
	"math"
	"sync/atomic"
)

// counterClocks opens each of the clocks that read the time stamp counter (Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 3, "Time-Stamp Counter").
var counterClocks = map[string]opener{
	"tsc":        openCounter(instructionRDTSC, "RDTSC", counter, counterChain),
	"tsc-fenced": openCounter(instructionRDTSC, "LFENCE; RDTSC", counterFenced, counterFencedChain),
	"tscp":       openCounter(instructionRDTSCP, "RDTSCP", counterP, counterPChain),
}

func openCounter(i instruction, api string, read func() int64, chain func(int, []int64)) opener {
	return func() (*Clock, error) {
		note, err := tried(i)
		if err != nil {
			return nil, err
		}
		_, err = tried(instructionRDTSCP)
		rdtscp.Store(err == nil)
		return counterClock(api+note+trapped(read), read, chain), nil
	}
}

// rdtscp is true once RDTSCP was executed without a fault. Before a counter is opened it is
// false, even if CPUID names the instruction, and CounterEnd then reads without RDTSCP.
var rdtscp atomic.Bool

func counterEnd() int64 {
	if rdtscp.Load() {
		return counterEndP()
	}
	return counterStart() // fenced on both sides, as the end of a region must be
}

func counterP() int64
func counterEndP() int64

//go:noescape
func counterPChain(work int, ticks []int64)

// The rounds of the shorter chain (10 us at about 4 GHz), and the cycles of one operation (imul).
const coreShortRounds, coreOperationCycles = 800, 3

// leafVendor is the CPUID leaf that names the processor's vendor.
const leafVendor = 0x0

// AdditionsPerCycle returns how many independent additions of registers this core executes per
// cycle if no hyperthread shares it, not counting the instructions of a loop. It is NaN if that
// is not known. The values are the reciprocal throughputs of ADD r64, r64 from uops.info and
// Fog's instruction tables: 4 for Zen 1 to 4 and Haswell to Ice Lake, 5 for Golden Cove.
func AdditionsPerCycle() float64 {
	_, ebx, _, _ := cpuid(leafVendor, 0)
	eax, _, _, _ := cpuid(leafFeatures, 0)
	family, model := eax>>8&0xf, eax>>4&0xf|eax>>12&0xf0
	if family == 0xf {
		family += eax >> 20 & 0xff
	}
	return additionsPerCycle(ebx, family, model)
}

const (
	vendorAMD   = 'A' | 'u'<<8 | 't'<<16 | 'h'<<24 // the first letters of AuthenticAMD
	vendorIntel = 'G' | 'e'<<8 | 'n'<<16 | 'u'<<24 // the first letters of GenuineIntel
)

func additionsPerCycle(vendor, family, model uint32) float64 {
	switch {
	case vendor == vendorAMD && (family == 0x17 || family == 0x19):
		return 4
	case vendor == vendorIntel && family == 6:
		switch model {
		case 0x3f, 0x4f, 0x56, 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x6a, 0x6c, 0x7d, 0x7e:
			return 4
		case 0x8f, 0xcf:
			return 5
		}
	}
	return math.NaN()
}

// CPUID leaves that name rates: the TSC's, the processor's, and the hypervisor's leaf that
// VMware introduced and others adopted (VMware, "Mechanisms to determine if software is
// running in a VMware virtual machine").
const (
	leafCrystal         = 0x15
	leafFrequency       = 0x16
	leafHypervisor      = 0x40000000
	leafHypervisorRates = 0x40000010
)

// processorRates returns the rates of the TSC that CPUID names.
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

// hypervisorKHz returns the TSC's rate that the hypervisor names; 0 if there is no hypervisor
// or it names none.
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

// Leaves and bits of CPUID (Intel manual, volume 2, CPUID; AMD64 manual,
// volume 3, appendix E).
const (
	leafFeatures         = 0x1
	leafExtended         = 0x80000000
	leafExtendedFeatures = 0x80000001

	featureTSC        = 1 << 4  // leaf 1, EDX
	featureHypervisor = 1 << 31 // leaf 1, ECX
	featureRDTSCP     = 1 << 27 // leaf 0x80000001, EDX
)

// identified reports that CPUID names the instruction.
func identified(i instruction) bool {
	switch i {
	case instructionRDTSC:
		_, _, _, edx := cpuid(leafFeatures, 0)
		return edx&featureTSC != 0
	case instructionRDTSCP:
		if last, _, _, _ := cpuid(leafExtended, 0); last < leafExtendedFeatures {
			return false
		}
		_, _, _, edx := cpuid(leafExtendedFeatures, 0)
		return edx&featureRDTSCP != 0
	}
	return false
}

func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)
