//go:build amd64 || arm64

package clock

// instruction is an instruction that reads a counter, if the process may execute it. The
// processor may lack it even if CPUID names it (virtual machines mask it), the system may have
// disabled it for this process, and a hypervisor may trap it. The process then gets a signal from
// which Go can't recover, so a child process tries the instruction first.
type instruction int

// The instructions. The assembly of the trial uses these names.
const (
	instructionRDTSC instruction = iota
	instructionRDTSCP
	instructionCNTVCT
	instructionUndefined // undefined on every processor; shows that a trial can fail
	instructionCount
)

// String returns the instruction as the manuals spell it.
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

// lacks returns an error if the processor itself says that it does not have the instruction.
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
