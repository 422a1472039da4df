package check

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"chronoscope/stats"
)

// kernelView is what the kernel's files say about its clocks at one time. A field is empty if
// its file could not be read.
type kernelView struct {
	clocksource string
	// shiftNs is by how much this process's time namespace shifts a clock (time_namespaces(7));
	// nil if the kernel reports none.
	shiftNs map[string]float64
	// uptimeNs is the time in /proc/uptime, or NaN. boottimeNs is what the clock boottime read
	// just after it.
	uptimeNs, boottimeNs float64
}

// clocksourceFile names the clocksource on which the kernel's clocks rest
// (Documentation/ABI/testing/sysfs-devices-system-clocksource).
const clocksourceFile = "sys/devices/system/clocksource/clocksource0/current_clocksource"

func viewKernel(root fs.FS, boottime *subject) kernelView {
	v := kernelView{uptimeNs: math.NaN(), boottimeNs: math.NaN()}
	if text, ok := smallFile(root, clocksourceFile); ok {
		v.clocksource = strings.TrimSpace(text)
	}
	if text, ok := smallFile(root, "proc/self/timens_offsets"); ok {
		v.shiftNs = parseShifts(text)
	}
	if text, ok := smallFile(root, "proc/uptime"); ok {
		v.uptimeNs = parseUptime(text)
	}
	if boottime != nil {
		v.boottimeNs = float64(boottime.Read()) * boottime.tickNs()
	}
	return v
}

// smallFile reads a file of a few lines of printable text.
func smallFile(root fs.FS, name string) (string, bool) {
	file, err := root.Open(name)
	if err != nil {
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return "", false
	}
	for _, r := range string(data) {
		if r != '\n' && r != '\t' && !strconv.IsPrint(r) {
			return "", false
		}
	}
	return string(data), true
}

// parseShifts reads lines such as "monotonic 10 500000000": a clock, seconds and nanoseconds.
// It skips lines that it can't read.
func parseShifts(text string) map[string]float64 {
	shifts := map[string]float64{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		seconds, err := strconv.ParseInt(fields[1], 10, 64)
		ns, err2 := strconv.ParseInt(fields[2], 10, 64)
		if err == nil && err2 == nil {
			shifts[fields[0]] = float64(seconds)*1e9 + float64(ns)
		}
	}
	return shifts
}

// parseUptime returns the first of the two numbers of /proc/uptime, which are in seconds, in
// nanoseconds.
func parseUptime(text string) float64 {
	first, _, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseFloat(strings.TrimSpace(first), 64)
	if err != nil || !(seconds >= 0) || math.IsInf(seconds, 0) {
		return math.NaN()
	}
	return seconds * 1e9
}

// judgeClocksource judges whether the kernel's clocks rested on the same clocksource all the
// time.
func (r *Report) judgeClocksource(before, after kernelView, clock string) {
	if before.clocksource == "" || after.clocksource == "" {
		r.skip(Clocksource, clock, "/%s can't be read: mount /sys to know", clocksourceFile)
		return
	}
	f := newFinding(clock, Clocksource)
	f.note("the kernel's clocks rest on %s", after.clocksource)
	if before.clocksource != after.clocksource {
		f.Lower(stats.Suspect, "the kernel changed its clocksource from %s to %s meanwhile: the costs and accuracies of its clocks are others now, and their rate may be; measure again, and look for the cause in the kernel's log (dmesg)",
			before.clocksource, after.clocksource)
	}
	r.add(f)
}

// uptimeGrainNs is the largest permitted difference between /proc/uptime, which is in hundredths
// of a second, and a reading of the clock boottime just after it.
const uptimeGrainNs = 0.1e9

// judgeNamespaces notes which clocks are shifted for this process. A shift is no fault, because
// it does not change intervals.
func (r *Report) judgeNamespaces(v kernelView) {
	for _, clock := range []string{"monotonic", "boottime"} {
		shift, ok := v.shiftNs[clock]
		if !ok {
			continue
		}
		f := newFinding(clock, TimeNamespace)
		f.worst(math.Abs(shift))
		if shift != 0 {
			f.note("a time namespace shifts it by %.9g s for this process: intervals are right, but readings don't compare with those of processes outside", shift/1e9)
		}
		if apart := v.boottimeNs - v.uptimeNs; clock == "boottime" && math.Abs(apart) > uptimeGrainNs {
			f.note("%s", uptimeNote(apart))
		}
		r.add(f)
	}
}

func uptimeNote(apartNs float64) string {
	return fmt.Sprintf("it is %.4g s %s /proc/uptime, which a container's or an older kernel's own account may be", math.Abs(apartNs)/1e9, either(apartNs > 0, "ahead of", "behind"))
}
