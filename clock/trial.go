//go:build amd64 || arm64

package clock

// instruction is one that may end the process instead of reading a counter:
// the processor may lack it whatever CPUID says (virtual machines mask it), the
// system may have disabled it for this process, a hypervisor may trap it. Go
// can't recover from the signal, so a child process tries it first.
type instruction int

// The instructions. The assembly of the trial knows them by these names.
const (
	instructionRDTSC instruction = iota
	instructionRDTSCP
	instructionCNTVCT
	instructionUndefined // never exists; shows that a trial can fail
	instructionCount
)

// String is the instruction in the manuals' spelling.
func (i instruction) String() string {
	switch i {
	case instructionRDTSC:
		return "RDTSC"
	case instructionRDTSCP:
		return "RDTSCP"
	case instructionCNTVCT:
		return "MRS CNTVCT_EL0"
	}
	return "an undefined instruction"
}

// lacks is the error of a processor that says itself that it has no such
// instruction, and nil where it says nothing of the kind.
func lacks(i instruction) error {
	if identified(i) {
		return nil
	}
	return &Unavailable{
		Reason: NoInstruction,
		Detail: "CPUID says that this processor has no " + i.String(),
		Remedy: "on a virtual machine, let the host pass the feature on",
	}
}
