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

// diskUse is what the disks did while passedNs passed. ownRead and ownWritten are the blocks of 512 bytes that this process
// and its children asked for; on which of the disks is not known.
type diskUse struct {
	passedNs, ownRead, ownWritten float64
	disks                         []diskWork
}

// diskWork is what one disk did. busyNs is the time for which it was busy, readNs and writtenNs the time that requests took,
// which may overlap. read and written are in blocks of 512 bytes.
type diskWork struct{ busyNs, readNs, read, writtenNs, written float64 }

// plus returns the sum. Both are of the same disks, or one is the zero value.
func (d diskUse) plus(e diskUse) diskUse { return d.and(e, 1) }

// since returns what was done after an earlier reading.
func (d diskUse) since(e diskUse) diskUse { return d.and(e, -1) }

func (d diskUse) and(e diskUse, times float64) diskUse {
	sum := diskUse{d.passedNs + times*e.passedNs, d.ownRead + times*e.ownRead, d.ownWritten + times*e.ownWritten, make([]diskWork, max(len(d.disks), len(e.disks)))}
	copy(sum.disks, d.disks)
	for i, x := range e.disks {
		w := &sum.disks[i]
		*w = diskWork{w.busyNs + times*x.busyNs, w.readNs + times*x.readNs, w.read + times*x.read, w.writtenNs + times*x.writtenNs, w.written + times*x.written}
	}
	return sum
}

// amplified is more than the number of blocks that a file system writes for each block that a program writes. It also
// writes its journal and its trees, in threads of the kernel, and these blocks are charged to no program.
const amplified = 64

// othersShare returns the share of the time for which a disk was busy for other programs: the largest of all disks. On each of
// them the program may have made all of its requests.
func (d diskUse) othersShare() (most float64) {
	for _, w := range d.disks {
		others := func(own, all float64) float64 { return math.Max(0, 1-own/math.Max(1, all)) }
		requestsNs := w.readNs + w.writtenNs
		othersNs := w.readNs*others(d.ownRead, w.read) + w.writtenNs*others(amplified*d.ownWritten, w.written)
		if requestsNs > 0 && d.passedNs > 0 {
			// Each short request counts as busy for a tick of up to 4 ms, and requests that queue take longer than the disk is busy.
			most = math.Max(most, math.Min(w.busyNs, requestsNs)*othersNs/requestsNs/d.passedNs)
		}
	}
	return most
}

// disks reads what the disks of this machine have done so far, from /sys/block/*/stat (Documentation/block/stat.rst). It leaves
// out devices that lie on others, such as those of LVM, since the devices below count the same requests. Of an NVMe disk with
// several paths it reads the paths, too: older kernels count nothing for the disk itself.
type disks []fs.File

// openDisks opens the files of the disks below root. The result is not nil, even if there are none.
func openDisks(root fs.FS) disks {
	d := disks{}
	all, _ := fs.ReadDir(root, "sys/block")
	for _, e := range all {
		of := "sys/block/" + e.Name()
		if _, err := fs.Stat(root, of+"/device"); err != nil {
			continue
		}
		if file, err := root.Open(of + "/stat"); err == nil {
			d = append(d, file)
		}
	}
	return d
}

func (d disks) close() {
	for _, file := range d {
		file.Close()
	}
}

// look returns what each disk has done so far; zero for one that does not tell. It takes some microseconds per disk.
func (d disks) look() (use diskUse) {
	for _, file := range d {
		var text [512]byte
		n := 0
		if at, ok := file.(io.ReaderAt); ok {
			n, _ = at.ReadAt(text[:], 0)
		}
		use.disks = append(use.disks, parseDisk(text[:n]))
	}
	return use
}

// parseDisk reads the figures of a disk: for reads and then for writes the requests, those that were merged, blocks, and
// milliseconds; then the requests that are under way, and the milliseconds for which the disk was busy.
func parseDisk(text []byte) diskWork {
	f := bytes.Fields(text)
	if len(f) < 10 {
		return diskWork{}
	}
	of := func(i int) float64 {
		n, _ := strconv.ParseFloat(string(f[i]), 64)
		return n
	}
	return diskWork{busyNs: 1e6 * of(9), read: of(2), readNs: 1e6 * of(3), written: of(6), writtenNs: 1e6 * of(7)}
}

// diskNs returns the most time for which a run that uses disks may have waited for them. If events tell what ended
// each block, it is the time of the blocks that a disk may have caused. Otherwise it is the time in which none of the
// program's threads ran, without sleeps of a known length.
func (s *series) diskNs(run *Run, events []process.Event) float64 {
	if !run.usesDisks || !run.noted {
		return 0
	}
	t := run.traced
	ns := t.forDisksNs
	if t.blocksKnown == 0 || t.blocksUnknown > 0 {
		ns = outsideNs(events, s.sleeps, t.wallNs)
	}
	if math.IsNaN(run.BlockedNs) {
		return ns
	}
	return math.Min(ns, run.BlockedNs)
}

// judgeDisks lowers the verdict if the program used disks, and others may have made it wait for one.
func (c *conclusion) judgeDisks() {
	var use diskUse
	for i := range c.Runs {
		use = use.plus(c.Runs[i].disks)
	}
	waited := c.typical(func(r *Run) float64 { return r.diskNs })
	if others := use.othersShare(); others > stats.WideShare && waited > stats.WideShare*c.Estimate.Value {
		c.Lower(stats.Suspect, "it uses files, and each run waited %s for a disk or something else; a disk was busy for other programs for %.0f %% of the time, and such delays are in its time: measure it while they don't use the disk", stats.Duration(waited, 3), 100*others)
	}
}
