package load

import "golang.org/x/sys/unix"

// awakeAtEnd makes the kernel continue this process when its parent ends (PR_SET_PDEATHSIG, prctl(2)). If it is stopped
// then, it can't read that its pipe has ended, and would stay. The signal also comes when the thread that started this
// process ends, which matters only in a pause.
func awakeAtEnd() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGCONT), 0, 0, 0) }
