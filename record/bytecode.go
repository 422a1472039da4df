package record

import "chronoscope/bytecode"

var _ = register[Bytecode]("bytecode")

// Bytecode is the document of the times of a virtual machine's instructions.
type Bytecode struct {
	Header
	// Report is the first report; Others are those of further virtual machines, and of compilers.
	bytecode.Report
	Others []bytecode.Report `json:"others"`
	// Load is the number of processes that competed for the CPU; left out if there were none.
	Load int `json:"load,omitzero"`
}
