//go:build !linux

package machine

import "io/fs"

// StatIsWhole returns false: only Linux has this file.
func StatIsWhole(fs.FS) bool { return false }
