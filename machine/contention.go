package machine

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"strconv"
)

// Contention says how much programs competed for the machine's CPUs during a stretch of time.
type Contention struct {
	// OthersNs is the CPU time of all processes other than this one and the children that it has
	// waited for; NaN if it is not known. Because /proc/stat rounds, it may be negative.
	OthersNs float64
	// WaitedNs is the time during which at least one thread of the machine waited for a CPU,
	// including this process's and its children's threads. It is the mean over the CPUs, weighted
	// by how long each was in use; NaN if the kernel does not tell.
	WaitedNs float64
}

// OthersErrorNs is about twice the standard deviation of the error that the rounding down of
// five figures in /proc/stat causes in [Contention].OthersNs.
const OthersErrorNs = 2 * statTickNs

// ContentionWatch measures contention by reading the kernel's counters. A look takes about
// 20 µs, and needs no rights.
type ContentionWatch struct {
	pressure, stat kernelFile
	ownNs          func() float64
	before         contentionCounts
}

// contentionCounts are the values of the counters at a look; NaN if not known.
type contentionCounts struct{ busyNs, ownNs, waitedNs float64 }

// OpenContention opens the files below root. A file that is missing makes its figures NaN.
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

// Look returns the contention since the previous look, or since the watch was opened.
func (w *ContentionWatch) Look() Contention {
	before, now := w.before, w.counts()
	w.before = now
	others := since(now.busyNs, before.busyNs) - since(now.ownNs, before.ownNs)
	return Contention{OthersNs: others, WaitedNs: since(now.waitedNs, before.waitedNs)}
}

// since returns by how much a counter rose. It returns NaN if the value fell, because it is not a
// counter then.
func since(now, before float64) float64 {
	if !(now >= before) {
		return math.NaN()
	}
	return now - before
}

func (w *ContentionWatch) counts() contentionCounts {
	return contentionCounts{busyNs: busyNs(w.stat.read()), ownNs: w.ownNs(), waitedNs: pressureNs(w.pressure.read())}
}

// busyNs returns the time for which all CPUs together ran programs or interrupts, from the first
// line of /proc/stat; NaN if it can't be read.
func busyNs(text []byte) float64 {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	cpu, times, err := parseCPUTimes(string(line))
	if err != nil || cpu != AllCPUs {
		return math.NaN()
	}
	return times.RanNs()
}

// pressureNs returns the time for which at least one thread waited for a CPU, from
// /proc/pressure/cpu (Documentation/accounting/psi.rst).
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

// counted parses a whole number that a float64 can represent. It returns NaN for any other text.
func counted(text []byte) float64 {
	n, err := strconv.ParseUint(string(text), 10, 53)
	if err != nil {
		return math.NaN()
	}
	return float64(n)
}

// kernelFile is a file of the kernel that is read repeatedly.
type kernelFile struct {
	file fs.File // nil if it can't be opened
	text [512]byte
}

func openKernelFile(root fs.FS, name string) kernelFile {
	file, err := root.Open(name)
	if err != nil {
		return kernelFile{}
	}
	return kernelFile{file: file}
}

// read returns the beginning of the file; nothing if it can't be read.
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
