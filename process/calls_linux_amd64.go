package process

import "golang.org/x/sys/unix"

const thisMachine = unix.AUDIT_ARCH_X86_64

// otherNumbers is the first number of another set of system calls, those of x32.
const otherNumbers = 0x40000000

var ownNotedCalls = map[uint64]notedCall{
	unix.SYS_SELECT:     {form: selected, arg: 4},
	unix.SYS_POLL:       {form: millisecond, arg: 2, files: 1},
	unix.SYS_EPOLL_WAIT: {form: millisecond, arg: 3},
	unix.SYS_OPEN:       {what: fileOpened, form: pathname},
	unix.SYS_ALARM:      {form: nonzero},
	unix.SYS_TIME:       {what: clockRead},
	unix.SYS_SEMTIMEDOP: {form: pointer, arg: 3},
}
