//go:build !linux

package machine

func affinity() ([]int, error)    { return nil, errNoAffinity() }
func setAffinity([]int) error     { return errNoAffinity() }
func restoreAffinity([]int) error { return errNoAffinity() }

func errNoAffinity() error {
	return &UnsupportedError{
		Operation: "binding a thread to a CPU",
		Reason:    "the calls for it are known on Linux only, and macOS has none that binds",
		Remedy:    "measure without naming CPUs, and keep the machine otherwise idle",
	}
}
