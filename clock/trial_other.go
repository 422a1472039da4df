//go:build (amd64 || arm64) && !linux

package clock

// tried relies on what the processor says of itself: these systems do not
// disable the counter for single processes.
func tried(i instruction) (note string, err error) { return "", lacks(i) }
