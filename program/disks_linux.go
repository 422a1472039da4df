package program

import "golang.org/x/sys/unix"

// ownBlocks returns how many blocks of 512 bytes this process and the children that it has waited for have read from disks,
// and how many they have written to files (getrusage(2)).
func ownBlocks() (read, written float64) {
	self, children := blocksOf(unix.RUSAGE_SELF), blocksOf(unix.RUSAGE_CHILDREN)
	return float64(self.Inblock + children.Inblock), float64(self.Oublock + children.Oublock)
}

// childrenBlocks returns the sum of both for the children alone.
func childrenBlocks() int64 {
	u := blocksOf(unix.RUSAGE_CHILDREN)
	return int64(u.Inblock + u.Oublock)
}

func blocksOf(who int) (u unix.Rusage) {
	if unix.Getrusage(who, &u) != nil {
		return unix.Rusage{}
	}
	return u
}
