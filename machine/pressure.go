package machine

import (
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// PressureNs returns the time since the system started during which at least one thread of the machine waited for a CPU,
// by /proc/pressure/cpu below root (Documentation/accounting/psi.rst): the mean over the CPUs, weighted by how long each
// was in use. It is NaN if the kernel does not tell.
func PressureNs(root fs.FS) float64 {
	text, _ := files{root}.text("proc/pressure/cpu")
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) == 0 || fields[0] != "some" {
		return math.NaN()
	}
	for _, f := range fields[1:] {
		if us, ok := strings.CutPrefix(f, "total="); ok {
			return 1e3 * counted(us)
		}
	}
	return math.NaN()
}

// counted parses a whole number that a float64 can represent. It returns NaN for any other text.
func counted(text string) float64 {
	n, err := strconv.ParseUint(text, 10, 53)
	if err != nil {
		return math.NaN()
	}
	return float64(n)
}
