package record

import "chronoscope/validate"

var _ = register[Validation]("validate")

// Validation is the document that says how good methods are on this machine.
type Validation struct {
	Header
	validate.Report
}
