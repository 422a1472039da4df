package process

import "golang.org/x/sys/unix"

const thisMachine = unix.AUDIT_ARCH_X86_64

var ownTimedCalls = map[uint64]timedCall{
	unix.SYS_SELECT:     {form: selected, arg: 4},
	unix.SYS_POLL:       {form: millisecond, arg: 2, files: 1},
	unix.SYS_EPOLL_WAIT: {form: millisecond, arg: 3},
	unix.SYS_ALARM:      {form: nonzero},
	unix.SYS_SEMTIMEDOP: {form: pointer, arg: 3},
}
