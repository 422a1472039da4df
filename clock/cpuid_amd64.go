package clock

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
