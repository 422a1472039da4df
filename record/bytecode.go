package record

import "chronoscope/bytecode"

var _ = register[Bytecode]("bytecode")

// Bytecode is the document of what a virtual machine's instructions take.
type Bytecode struct {
	Header
	// Report is the first one; Others are those of further virtual machines, and of
	// compilers.
	bytecode.Report
	Others []bytecode.Report `json:"others"`
}
