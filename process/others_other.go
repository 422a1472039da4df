//go:build !linux

package process

import "errors"

// Others would watch how much of the CPUs other processes use. On this system nothing is known.
type Others struct{}

// OthersUse is what other processes did between two looks.
type OthersUse struct {
	Known                 bool
	CPUNs, WaitNs         int64
	ElsewhereNs, PassedNs int64
	OwnNs                 int64
}

// OpenOthers returns an error: other processes can't be watched on this system.
func OpenOthers() (*Others, error) {
	return nil, errors.New("what other processes use is not known on this system")
}

// Look returns nothing: this system does not tell what other processes use.
func (o *Others) Look(int, []int) OthersUse { return OthersUse{} }
