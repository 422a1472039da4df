package program

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"strconv"

	"chronoscope/process"
	"chronoscope/stats"
)

// diskUse is what the disks did while passedNs passed. busyNs is the time for which they were busy, readNs and writtenNs
// the time that requests took, which may overlap. read and written are in blocks of 512 bytes, and ownRead and ownWritten
// the part that this process and its children asked for.
type diskUse struct {
	passedNs, busyNs               float64
	readNs, read, ownRead          float64
	writtenNs, written, ownWritten float64
}

func (d diskUse) plus(e diskUse) diskUse {
	return diskUse{
		d.passedNs + e.passedNs, d.busyNs + e.busyNs,
		d.readNs + e.readNs, d.read + e.read, d.ownRead + e.ownRead,
		d.writtenNs + e.writtenNs, d.written + e.written, d.ownWritten + e.ownWritten,
	}
}

// since returns what was done after an earlier reading.
func (d diskUse) since(e diskUse) diskUse {
	return d.plus(diskUse{-e.passedNs, -e.busyNs, -e.readNs, -e.read, -e.ownRead, -e.writtenNs, -e.written, -e.ownWritten})
}

// amplified is more blocks than a file system writes for each block that a program writes: it also writes its journal and
// its trees, and threads of the kernel do that, whose writes are nobody's.
const amplified = 64

// othersShare returns the share of the time for which the disks were busy for other programs.
func (d diskUse) othersShare() float64 {
	others := func(own, all float64) float64 { return math.Max(0, 1-own/math.Max(1, all)) }
	requestsNs := d.readNs + d.writtenNs
	othersNs := d.readNs*others(d.ownRead, d.read) + d.writtenNs*others(amplified*d.ownWritten, d.written)
	if !(requestsNs > 0 && d.passedNs > 0) {
		return 0
	}
	// Each short request counts as busy for a tick of up to 4 ms, and requests that queue take longer than the disk is busy.
	return math.Min(d.busyNs, requestsNs) * othersNs / requestsNs / d.passedNs
}

// disks reads what the disks of this machine have done so far, from /proc/diskstats (Documentation/admin-guide/iostats.rst).
// Devices that lie on others, such as those of LVM, are left out: what they do is done by those.
type disks struct {
	file fs.File
	is   map[string]bool
	text []byte
}

// openDisks finds the disks below root; nil if there are none.
func openDisks(root fs.FS) *disks {
	d := &disks{is: map[string]bool{}, text: make([]byte, 64<<10)}
	all, _ := fs.ReadDir(root, "sys/block")
	for _, e := range all {
		if _, err := fs.Stat(root, "sys/block/"+e.Name()+"/device"); err == nil {
			d.is[e.Name()] = true
		}
	}
	if len(d.is) == 0 {
		return nil
	}
	d.file, _ = root.Open("proc/diskstats")
	return d
}

func (d *disks) close() {
	if d != nil && d.file != nil {
		d.file.Close()
	}
}

// look returns what the disks have done so far; nothing if it is not known.
func (d *disks) look() (use diskUse) {
	if d == nil {
		return use
	}
	at, ok := d.file.(io.ReaderAt)
	if !ok {
		return use
	}
	n, _ := at.ReadAt(d.text, 0)
	return parseDisks(d.text[:n], d.is)
}

// parseDisks adds the lines of the given devices up. A line is the numbers of a device, its name, and for reads and then for
// writes the requests, those that were merged, blocks, and milliseconds; then the requests that are under way, and the
// milliseconds for which the device was busy.
func parseDisks(text []byte, is map[string]bool) (use diskUse) {
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) < 13 || !is[string(f[2])] {
			continue
		}
		of := func(i int) float64 {
			n, _ := strconv.ParseFloat(string(f[i]), 64)
			return n
		}
		use = use.plus(diskUse{busyNs: 1e6 * of(12), read: of(5), readNs: 1e6 * of(6), written: of(9), writtenNs: 1e6 * of(10)})
	}
	return use
}

// diskNs returns the most time for which a run that uses disks may have waited for them: nothing of it ran, and it slept for
// no known time.
func (s *series) diskNs(run *Run, events []process.Event) float64 {
	t := run.traced
	if !run.usesDisks || !run.noted {
		return 0
	}
	if t.blocksKnown == 0 || t.blocksUnknown > 0 {
		return math.Min(outsideNs(events, s.sleeps, t.wallNs), run.BlockedNs)
	}
	ns := outsideNs(events, 0, t.wallNs)
	for _, sleep := range t.timers {
		ns -= sleep.ns
	}
	return math.Max(0, math.Min(ns, run.BlockedNs))
}

// judgeDisks lowers the verdict if the program used the disks, and others may have made it wait for them.
func (c *conclusion) judgeDisks() {
	var use diskUse
	for i := range c.Runs {
		use = use.plus(c.Runs[i].disks)
	}
	waited := c.typical(func(r *Run) float64 { return r.diskNs })
	if others := use.othersShare(); others > stats.WideShare && waited > stats.WideShare*c.Estimate.Value {
		c.Lower(stats.Suspect, "it reads or writes files, and waited %s in each run for a disk or something else, while the disks were busy for other programs for %.0f %% of the time: what these delayed is in its time: measure it while they don't use the disks", stats.Duration(waited, 3), 100*others)
	}
}
