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
	return counts(root)
}

// counts reports whether /proc/stat below root counts CPU time. Since a system started, its CPUs have always had some.
func counts(root fs.FS) bool {
	all, err := ReadCPUTimes(root, AllCPUs)
	return err == nil && all.RanNs() > 0
}
