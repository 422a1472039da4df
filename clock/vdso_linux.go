package clock

// vdso reads clocks by the functions that the kernel maps into every process,
// without a system call (vdso(7)). A function that isn't there is nil, but
// gettime is always there.
type vdso struct {
	gettime      func(id int32) func() int64 // in nanoseconds
	gettimeofday func() int64                // in microseconds
	time         func() int64                // in seconds
}
