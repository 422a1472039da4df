package machine

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"strconv"
)

// Contention is how far programs competed for the machine's CPUs in stretches of time. The zero
// value is of none: nothing is known.
type Contention struct {
	// Stretches is how many there were.
	Stretches int
	// OthersNs is the CPU time that others than this process and the children that it has
	// waited for used; NaN where that is not known. /proc/stat rounds, so that it may be below
	// 0, and off by what OthersAtMostNs allows for.
	OthersNs float64
	// WaitedNs is the time for which some thread of the machine waited for a CPU, this process's and
	// its children's among them: the mean over the CPUs, weighted by how long each was in use.
	// NaN where the kernel does not tell.
	WaitedNs float64
}

// Plus is the contention of the stretches of both.
func (c Contention) Plus(d Contention) Contention {
	return Contention{c.Stretches + d.Stretches, c.OthersNs + d.OthersNs, c.WaitedNs + d.WaitedNs}
}

// othersErrorNs is about twice the standard deviation of what rounding down each of five
// figures of /proc/stat does to the difference of two looks.
const othersErrorNs = 2 * statTickNs

// OthersAtMostNs is an upper bound of OthersNs, NaN where nothing is known: also where
// /proc/stat does not hold this process, as in some containers.
func (c Contention) OthersAtMostNs() float64 {
	most := c.OthersNs + othersErrorNs*math.Sqrt(float64(c.Stretches))
	if c.Stretches == 0 || most < 0 {
		return math.NaN()
	}
	return most
}

// WaitedAtMostNs is an upper bound of the time for which threads waited for any one CPU of a machine
// with a number of CPUs; NaN where that is not known.
func (c Contention) WaitedAtMostNs(cpus int) float64 {
	if c.Stretches == 0 {
		return math.NaN()
	}
	return c.WaitedNs * float64(max(1, cpus))
}

// ContentionWatch looks at who uses the machine's CPUs. A look takes some 20 µs, and needs no
// rights.
type ContentionWatch struct {
	pressure, stat kernelFile
	ownNs          func() float64
	before         contentionCounts
}

// contentionCounts are what the files hold at a look. NaN is not known.
type contentionCounts struct{ busyNs, ownNs, waitedNs float64 }

// OpenContention opens the files below root. What is not there is not known.
func OpenContention(root fs.FS) *ContentionWatch { return openContention(root, OwnCPUNs) }

func openContention(root fs.FS, ownNs func() float64) *ContentionWatch {
	w := &ContentionWatch{pressure: openKernelFile(root, "proc/pressure/cpu"), stat: openKernelFile(root, "proc/stat"), ownNs: ownNs}
	w.before = w.counts()
	return w
}

// Close closes the files.
func (w *ContentionWatch) Close() {
	w.pressure.close()
	w.stat.close()
}

// Look is the contention since the look before, or since the watch was opened.
func (w *ContentionWatch) Look() Contention {
	before, now := w.before, w.counts()
	w.before = now
	others := since(now.busyNs, before.busyNs) - since(now.ownNs, before.ownNs)
	return Contention{Stretches: 1, OthersNs: others, WaitedNs: since(now.waitedNs, before.waitedNs)}
}

// since is by how much a counter rose; NaN where it fell, which is no count.
func since(now, before float64) float64 {
	if !(now >= before) {
		return math.NaN()
	}
	return now - before
}

func (w *ContentionWatch) counts() contentionCounts {
	return contentionCounts{busyNs: busyNs(w.stat.read()), ownNs: w.ownNs(), waitedNs: pressureNs(w.pressure.read())}
}

// busyNs reads how long all CPUs ran programs or interrupts from the first line of
// /proc/stat; NaN where it does not tell.
func busyNs(text []byte) float64 {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	cpu, times, err := parseCPUTimes(string(line))
	if err != nil || cpu != AllCPUs {
		return math.NaN()
	}
	return times.RanNs()
}

// pressureNs reads how long some thread waited for a CPU from /proc/pressure/cpu
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

// counted reads a whole number that a float64 holds; NaN where the text is not one.
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
