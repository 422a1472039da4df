package clock

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// CrossCheck is the counter's rate according to another source. It is reported but not used,
// because hypervisors pass on the rate of another machine, and manufacturers round.
type CrossCheck struct {
	Source string  `json:"source"` // the origin of the rate
	Hz     float64 `json:"hz"`
	PPM    float64 `json:"ppm"` // how far Hz exceeds the measured rate, in parts per million of it
}

// CrossChecks returns the counter's rate according to the processor, the hypervisor and the
// kernel, each compared with the measured one. A source that names no rate is left out. root is
// the root of the file system, os.DirFS("/").
func CrossChecks(root fs.FS, measured Rate) []CrossCheck {
	checks := append(processorRates(), kernelRates(root)...)
	for i := range checks {
		checks[i].PPM = 1e6 * (checks[i].Hz/measured.Hz.Value - 1)
	}
	return checks
}

// kernelRates returns the counter's rate according to Linux. BogoMIPS is twice the rate in MHz
// if the kernel uses the counter for its delay loops, as it does on both architectures that have
// a counter of fixed rate. tsc_freq_khz exists on some kernels only.
func kernelRates(root fs.FS) []CrossCheck {
	var checks []CrossCheck
	if mips, ok := bogoMIPS(root); ok {
		checks = append(checks, CrossCheck{Source: "/proc/cpuinfo (bogomips)", Hz: mips / 2 * 1e6})
	}
	const file = "sys/devices/system/cpu/cpu0/tsc_freq_khz"
	if text, err := fs.ReadFile(root, file); err == nil {
		if khz, ok := positive(string(text)); ok {
			checks = append(checks, CrossCheck{Source: "/" + file, Hz: khz * 1e3})
		}
	}
	return checks
}

// bogoMIPS returns the BogoMIPS of the first CPU. The field's name has capitals on arm64.
func bogoMIPS(root fs.FS) (float64, bool) {
	text, err := fs.ReadFile(root, "proc/cpuinfo")
	if err != nil {
		return 0, false
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		field, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.EqualFold(strings.TrimSpace(field), "bogomips") {
			return positive(value)
		}
	}
	return 0, false
}

// positive parses a number, and reports whether it is positive and finite.
func positive(text string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return x, err == nil && x > 0 && !math.IsInf(x, 0)
}
