package clock

import "math"

// leafVendor names who made the processor.
const leafVendor = 0x0

// AdditionsPerCycle is how many independent additions of registers this core makes in a cycle
// where nothing shares it, without what a loop takes; NaN where that is not known. They are
// the reciprocal throughputs of ADD r64, r64 by uops.info and Fog's instruction tables: 4 for
// Zen 1 to 4, Haswell to Ice Lake, 5 for Golden Cove.
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
	vendorIntel = 'G' | 'e'<<8 | 'n'<<16 | 'u'<<24 // and of GenuineIntel
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
