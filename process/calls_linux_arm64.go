package process

import "golang.org/x/sys/unix"

const thisMachine = unix.AUDIT_ARCH_AARCH64

// otherNumbers is above all numbers of system calls: there is no other set of them, and numbers below 0 are no
// calls.
const otherNumbers = 1 << 31

var ownNotedCalls = map[uint64]notedCall{unix.SYS_SEMTIMEDOP: {form: pointer, arg: 3}}
