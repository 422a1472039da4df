package clock

const (
	vdsoClockGettimeName = "__vdso_clock_gettime"
	vdsoGettimeofdayName = "__vdso_gettimeofday"
	vdsoTimeName         = "__vdso_time"
)

// prepareVDSO has nothing to do: Go's signal handler finds its goroutine
// through thread-local storage, which C code leaves alone.
func prepareVDSO() error { return nil }

// callTime calls time(NULL).
func callTime(function uintptr) (seconds int64)
