package machine

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// swapUse holds the size of the swap space, how much of it is used, and how many pages were
// swapped in and out since the system started.
type swapUse struct {
	totalKB, usedKB uint64
	pages           uint64
}

// swap reads /proc/meminfo and /proc/vmstat (proc_meminfo(5), proc_vmstat(5)).
func (d *Doctor) swap() (swapUse, error) {
	memory, err := d.files().text("proc/meminfo")
	if err != nil {
		return swapUse{}, err
	}
	counters, err := d.files().text("proc/vmstat")
	if err != nil {
		return swapUse{}, err
	}
	total, okT := countIn(memory, "SwapTotal:")
	free, okF := countIn(memory, "SwapFree:")
	if !okT || !okF || free > total {
		return swapUse{}, fmt.Errorf("/proc/meminfo does not say how much swap space is used")
	}
	in, okI := countIn(counters, "pswpin")
	out, okO := countIn(counters, "pswpout")
	if !okI || !okO {
		return swapUse{}, fmt.Errorf("/proc/vmstat does not count pages that are swapped (pswpin, pswpout)")
	}
	return swapUse{totalKB: total, usedKB: total - free, pages: in + out}, nil
}

// countIn returns the whole number that follows name in the line that begins with name.
func countIn(text, name string) (uint64, bool) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == name {
			n, err := strconv.ParseUint(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

func judgeSwap(_ *Doctor, before, after swapUse, window time.Duration) (*Finding, error) {
	const fix = "free memory (top sorted by M shows who holds it), then as root: swapoff -a"
	used := fmt.Sprintf("%d MB of %d MB of swap space used", after.usedKB/1024, after.totalKB/1024)
	switch {
	case after.pages > before.pages:
		return spoiling(fmt.Sprintf("%d pages were swapped in the last %.0f ms; %s", after.pages-before.pages, float64(window)/1e6, used),
			"memory is short: a page that is not there costs micro- to milliseconds, and reclaiming takes CPU time besides", fix), nil
	case after.usedKB > 0:
		return worthNoting(used+", and nothing swapped at present",
			"the first touch of a page that was swapped out waits for the disk", fix), nil
	case after.totalKB == 0:
		return fine("no swap space"), nil
	}
	return fine(used), nil
}
