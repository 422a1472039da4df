//go:build (amd64 || arm64) && !linux

package clock

// tried relies on CPUID or the architecture, because these systems do not disable the counter
// for single processes.
func tried(i instruction) (note string, err error) { return "", lacks(i) }
