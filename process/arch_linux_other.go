//go:build linux && !amd64 && !arm64

package process

// Programs of this architecture count as programs of another one, and are not entered: the numbers of its system calls
// are not known here.
const (
	thisMachine, otherNumbers = 0, 0
	breakpointAdvance         = 0
	vdsoPrefix, trapOffset    = "", 0
)

var (
	ownNotedCalls map[uint64]notedCall
	callAndTrap   []byte
	clockCode     map[string][]byte
	clockCalls    map[string]int
)

func relocateCall([]byte, int) {}

type registers struct{}

func (*registers) read(int) error             { return errOtherMachine }
func (*registers) write(int) error            { return errOtherMachine }
func (*registers) instruction() uintptr       { return 0 }
func (*registers) stack() uintptr             { return 0 }
func (*registers) prepare(uintptr, []uintptr) {}
func (*registers) result() int64              { return 0 }
func (*registers) clock() uint32              { return 0 }
func (*registers) time() int64                { return 0 }
func (*registers) show(int64)                 {}
