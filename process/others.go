package process

// OthersUse is the CPU time of other processes between two looks.
type OthersUse struct {
	// Known says that nothing is missing.
	Known bool
	// CPUNs is the CPU time of all other processes, and WaitNs the time for which their threads waited for a
	// CPU.
	CPUNs, WaitNs int64
	// ElsewhereNs is the part of CPUNs that belongs to processes that may use other CPUs than the given ones,
	// and PassedNs is the time between the looks.
	ElsewhereNs, PassedNs int64
	// OwnNs is the CPU time of this process.
	OwnNs int64
}
