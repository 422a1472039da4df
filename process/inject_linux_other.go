//go:build linux && !amd64 && !arm64

package process

// Programs of this architecture are not entered: see thisMachine.
var callAndTrap []byte

const breakpointAdvance = 0

type registers struct{}

func (*registers) read(int) error             { return errOtherMachine }
func (*registers) write(int) error            { return errOtherMachine }
func (*registers) instruction() uintptr       { return 0 }
func (*registers) stack() uintptr             { return 0 }
func (*registers) prepare(uintptr, []uintptr) {}
func (*registers) result() int64              { return 0 }
