package program

import (
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// statTickNs is the unit of /proc/stat: USER_HZ is 100 on every architecture here
// (proc_stat(5)).
const statTickNs = 10e6

// stolen is what a hypervisor kept back of all CPUs since the system started, from
// /proc/stat; NaN where that does not tell.
func stolen(root fs.FS) float64 {
	text, err := fs.ReadFile(root, "proc/stat")
	if err != nil {
		return math.NaN()
	}
	return parseStolen(string(text))
}

func parseStolen(text string) float64 {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return math.NaN()
	}
	ticks, err := strconv.ParseUint(fields[8], 10, 53)
	if err != nil {
		return math.NaN()
	}
	return float64(ticks) * statTickNs
}
