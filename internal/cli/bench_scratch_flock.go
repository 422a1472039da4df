//go:build linux || darwin

package cli

import (
	"os"
	"syscall"
)

// tryLock locks a file until it is closed or its process ends. It returns false if another process has locked
// the file.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// isOwn reports whether a file belongs to this user.
func isOwn(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
