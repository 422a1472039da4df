package process

import "golang.org/x/sys/unix"

const thisMachine = unix.AUDIT_ARCH_AARCH64

var ownTimedCalls = map[uint64]timedCall{unix.SYS_SEMTIMEDOP: {form: pointer, arg: 3}}
