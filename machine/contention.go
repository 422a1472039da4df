package machine

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"strconv"
)

// Contention is how far programs competed for the machine's CPUs between two looks.
type Contention struct {
	// OthersNs is the CPU time that others than this process and the children that it has
	// waited for used; NaN where that is not known. It is off by up to OthersErrorNs.
	OthersNs float64
	// WaitedNs is for how long some thread of the machine waited for a CPU, this process's and
	// its children's among them: the mean over the CPUs, weighted by how long each was in use.
	// NaN where the kernel does not tell.
	WaitedNs float64
	// Runnable is how many threads ran or waited for a CPU at the second look, the one that
	// looked among them; NaN where that is not known.
	Runnable float64
}

// OthersErrorNs is how far [Contention.OthersNs] may be off: /proc/stat rounds each of five
// figures down to 10 ms.
const OthersErrorNs = 2 * statTickNs

// unknownContention is that of a machine that tells nothing.
var unknownContention = Contention{math.NaN(), math.NaN(), math.NaN()}

// ContentionWatch looks at who uses the machine's CPUs. A look takes some 30 µs, and needs no
// rights.
type ContentionWatch struct {
	pressure, stat, load kernelFile
	ownNs                func() float64
	before               contentionCounts
}

// contentionCounts are what the files hold at a look. NaN is not known.
type contentionCounts struct{ busyNs, ownNs, waitedNs, runnable float64 }

// OpenContention opens the files below root. What is not there is not known.
func OpenContention(root fs.FS) *ContentionWatch { return openContention(root, ownCPUNs) }

func openContention(root fs.FS, ownNs func() float64) *ContentionWatch {
	w := &ContentionWatch{
		pressure: openKernelFile(root, "proc/pressure/cpu"), stat: openKernelFile(root, "proc/stat"),
		load: openKernelFile(root, "proc/loadavg"), ownNs: ownNs,
	}
	w.before = w.counts()
	return w
}

// Close gives the files back.
func (w *ContentionWatch) Close() {
	w.pressure.close()
	w.stat.close()
	w.load.close()
}

// Look is the contention since the look before, or since the watch was opened.
func (w *ContentionWatch) Look() Contention {
	before, now := w.before, w.counts()
	w.before = now
	c := Contention{OthersNs: since(now.busyNs, before.busyNs) - since(now.ownNs, before.ownNs), WaitedNs: since(now.waitedNs, before.waitedNs), Runnable: now.runnable}
	switch {
	case c.OthersNs < -OthersErrorNs: // a /proc/stat that does not hold this process, as in some containers
		c.OthersNs = math.NaN()
	case c.OthersNs < 0:
		c.OthersNs = 0
	}
	return c
}

// since is by how much a counter rose; NaN where it fell, which is no count.
func since(now, before float64) float64 {
	if !(now >= before) {
		return math.NaN()
	}
	return now - before
}

func (w *ContentionWatch) counts() contentionCounts {
	return contentionCounts{busyNs: busyNs(w.stat.read()), ownNs: w.ownNs(), waitedNs: pressureNs(w.pressure.read()), runnable: runnable(w.load.read())}
}

// busyNs reads for how long all CPUs ran programs or interrupts from the first line of
// /proc/stat (proc_stat(5)): user, nice, system, irq and softirq.
func busyNs(text []byte) float64 {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return math.NaN()
	}
	var ticks float64
	for _, i := range []int{1, 2, 3, 6, 7} {
		ticks += counted(fields[i])
	}
	return ticks * statTickNs
}

// pressureNs reads for how long some thread waited for a CPU from /proc/pressure/cpu
// (Documentation/accounting/psi.rst).
func pressureNs(text []byte) float64 {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) == 0 || string(fields[0]) != "some" {
		return math.NaN()
	}
	for _, f := range fields[1:] {
		if us, ok := bytes.CutPrefix(f, []byte("total=")); ok {
			return 1e3 * counted(us)
		}
	}
	return math.NaN()
}

// runnable reads how many threads run or could from /proc/loadavg (proc_loadavg(5)), which
// takes less time than procs_running of /proc/stat.
func runnable(text []byte) float64 {
	fields := bytes.Fields(text)
	if len(fields) < 4 {
		return math.NaN()
	}
	n, _, found := bytes.Cut(fields[3], []byte("/"))
	if !found {
		return math.NaN()
	}
	return counted(n)
}

// counted is a whole number that a float64 holds; NaN where the text is none.
func counted(text []byte) float64 {
	n, err := strconv.ParseUint(string(text), 10, 53)
	if err != nil {
		return math.NaN()
	}
	return float64(n)
}

// kernelFile is a file of the kernel that is read again and again.
type kernelFile struct {
	file fs.File // nil where it can't be opened
	text [512]byte
}

func openKernelFile(root fs.FS, name string) kernelFile {
	file, err := root.Open(name)
	if err != nil {
		return kernelFile{}
	}
	return kernelFile{file: file}
}

// read is how the file begins; nothing where it can't be read.
func (f *kernelFile) read() []byte {
	at, ok := f.file.(io.ReaderAt)
	if !ok {
		return nil
	}
	n, err := at.ReadAt(f.text[:], 0)
	if err != nil && err != io.EOF {
		return nil
	}
	return f.text[:n]
}

func (f *kernelFile) close() {
	if f.file != nil {
		f.file.Close()
	}
}
