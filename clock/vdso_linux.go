package clock

// vdso holds the functions that the kernel maps into every process to read clocks without a
// system call (vdso(7)). A missing function is nil; gettime is never missing.
type vdso struct {
	gettime      func(id int32) func() int64 // in nanoseconds
	gettimeofday func() int64                // in microseconds
	time         func() int64                // in seconds
}
