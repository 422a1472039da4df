//go:build !linux && !darwin

package cli

import "os"

// tryLock returns false: files are not locked on this system, so that folders left behind are not removed.
func tryLock(*os.File) bool { return false }

func isOwn(os.FileInfo) bool { return false }
