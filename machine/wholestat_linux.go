package machine

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// StatIsWhole reports whether /proc/stat below root is the kernel's own file, which counts the CPU time of the whole
// machine. Container managers such as LXC mount a file of another file system over it (lxcfs), which holds the CPU
// time of the container only. A kernel of another make may count nothing (gVisor).
func StatIsWhole(root fs.FS) bool {
	file, err := root.Open("proc/stat")
	if err != nil {
		return false
	}
	defer file.Close()
	f, ok := file.(*os.File)
	var on unix.Statfs_t
	if !ok || unix.Fstatfs(int(f.Fd()), &on) != nil || on.Type != unix.PROC_SUPER_MAGIC {
		return false
	}
	var text [512]byte
	n, _ := f.Read(text[:])
	return counts(text[:n])
}

// counts reports whether /proc/stat counts CPU time. Since a system started, its CPUs have always had some.
func counts(text []byte) bool { return busyNs(text) > 0 }
