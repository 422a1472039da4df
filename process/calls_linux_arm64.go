package process

import "golang.org/x/sys/unix"

const thisMachine = unix.AUDIT_ARCH_AARCH64

// otherNumbers is where the numbers of another set of system calls would begin: there is none. Numbers below 0 are no calls.
const otherNumbers = 1 << 31

var ownNotedCalls = map[uint64]notedCall{unix.SYS_SEMTIMEDOP: {form: pointer, arg: 3}}
