//go:build !linux

package process

import "errors"

// Others watches what other processes of this machine use of its CPUs: here nothing is known.
type Others struct{}

// OthersUse is what other processes did between two looks.
type OthersUse struct {
	Known                 bool
	CPUNs, WaitNs         int64
	ElsewhereNs, PassedNs int64
	OwnNs                 int64
}

// OpenOthers says that they can't be watched.
func OpenOthers() (*Others, error) {
	return nil, errors.New("what other processes use is not known on this system")
}

// Look returns nothing: this system does not tell what other processes use.
func (o *Others) Look(int, []int) OthersUse { return OthersUse{} }
