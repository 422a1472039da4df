package machine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// readLoad sets the load average from /proc/loadavg.
func (m *Machine) readLoad(f files) {
	if m.Load1 != nil {
		return
	}
	text, err := f.line("proc/loadavg")
	if err != nil {
		m.caveat("load average: %v", err)
		return
	}
	load, err := parseLoad(text)
	if err != nil {
		m.caveat("load average: %v", err)
		return
	}
	m.Load1 = &load
}

// parseLoad returns the load average of the last minute from a line of /proc/loadavg
// (proc_loadavg(5)).
func parseLoad(line string) (float64, error) {
	first, _, _ := strings.Cut(line, " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil || !(load >= 0) || math.IsInf(load, 0) {
		return 0, fmt.Errorf("/proc/loadavg begins with %q, not a load", clip(first))
	}
	return load, nil
}

// hundredths rounds a load average to two decimals, with which systems show it.
func hundredths(load float64) float64 { return math.Round(load*100) / 100 }
