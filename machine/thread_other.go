//go:build !linux

package machine

// Thread looks at what the kernel counts of a thread: on Linux only.
type Thread struct{}

// OpenThread says that this system does not tell.
func OpenThread() (*Thread, error) {
	return nil, &UnsupportedError{
		Operation: "reading the run-queue wait and context switches of a thread",
		Reason:    "the system does not count them for a program to read",
		Remedy:    "causes that rest on them are left open",
	}
}

// Close does nothing.
func (*Thread) Close() error { return nil }

// Look is never reached.
func (*Thread) Look() (ThreadUse, error) { return ThreadUse{}, nil }
