package clocktest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The recordings are of a Xeon (family 6, model 207, KVM, HZ = 250, with host interruptions every
// 10 ms), of an EPYC (family 25, model 17, KVM), and of two other ones: turin (family 26, model 2, a guest
// without hardware virtualization whose system calls and interrupts take long, HZ = 250, with host
// interruptions every 1 ms), and milan (family 25, model 1, KVM, HZ = 250, host interruptions every 10 ms,
// and a core that other guests share for most of the time). Each was recorded in several regimes: quiet;
// with other programs that happened to run; with three loops on the same CPU; with neighbours that
// compute for 3 and 0.1 ms and sleep for 20 and 2 ms (exponential); and with builds. Gaps below
// 200 ns are left out. Another machine is recorded by
//
//	chronoscope activity --cpu 1 --duration 5s --format csv | gzip -9 > clock/clocktest/recordings/MACHINE-REGIME.csv.gz
//
//go:embed recordings/*.gz
var recordings embed.FS

// Recording lists the gaps of one CPU of a real machine.
type Recording struct {
	// Name names the machine and what ran at the same time, such as xeon-bursty.
	Name string
	// Ns is the length of the recording, and Gaps are its gaps in order.
	Ns   float64
	Gaps []RecordedGap
}

// RecordedGap is a stretch in which the recording thread did not run.
type RecordedGap struct {
	AtNs, Ns float64
	// Preempted says that another thread had the CPU. The kernel counts such a gap as a wait.
	Preempted bool
}

// Recordings reads all recordings of the package, in the order of their names.
func Recordings() ([]Recording, error) { return readAll(".csv.gz", ReadRecording) }

// readAll reads the recordings whose file names end with the suffix.
func readAll[T any](suffix string, read func(name string, from io.Reader) (T, error)) (all []T, err error) {
	files, err := fs.Glob(recordings, "recordings/*"+suffix)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := recordings.ReadFile(file)
		if err != nil {
			return nil, err
		}
		one, err := read(strings.TrimSuffix(path.Base(file), suffix), bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// ReadRecording reads gzipped CSV as chronoscope activity --format csv writes it. It needs the
// columns start_ns, duration_ns and cause, in any order. Gaps that the recording itself caused
// are left out.
func ReadRecording(name string, from io.Reader) (Recording, error) {
	r := Recording{Name: name}
	failed := func(err error) (Recording, error) {
		return Recording{}, fmt.Errorf("clocktest: recording %s: %w", name, err)
	}
	plain, err := gzip.NewReader(from)
	if err != nil {
		return failed(err)
	}
	rows, err := csv.NewReader(plain).ReadAll()
	if err != nil || len(rows) < 2 {
		return failed(fmt.Errorf("%d rows: %w", len(rows), err))
	}
	start, length, cause := slices.Index(rows[0], "start_ns"), slices.Index(rows[0], "duration_ns"), slices.Index(rows[0], "cause")
	if min(start, length, cause) < 0 {
		return failed(fmt.Errorf("the columns are %q: start_ns, duration_ns and cause are needed", rows[0]))
	}
	last := 0.0
	for _, row := range rows[1:] {
		at, atErr := strconv.ParseFloat(row[start], 64)
		ns, nsErr := strconv.ParseFloat(row[length], 64)
		if atErr != nil || nsErr != nil || !(at >= last) || !(ns >= 0) {
			return failed(fmt.Errorf("the row %q", row))
		}
		last, at = at, math.Max(at, r.Ns) // rounding may make a gap begin before the end of the previous one
		if row[cause] != "" && row[cause] != "runtime" {
			r.Gaps = append(r.Gaps, RecordedGap{AtNs: at, Ns: ns, Preempted: row[cause] == "preempted"})
		}
		r.Ns = at + ns
	}
	return r, nil
}

// addRecording replays a recording over and over, beginning at a random moment of it.
func (s *Scheduler) addRecording(r *Recording) {
	offset := s.machine.rng.Float64() * r.Ns
	next, round := 0, 0.0
	at := func(i int) float64 { return r.Gaps[i].AtNs + round*r.Ns - offset }
	s.add(event{
		happen: func() { s.replay(r.Gaps[next]) },
		again: func() float64 {
			for at(next) < s.machine.now {
				if next++; next == len(r.Gaps) {
					next, round = 0, round+1
				}
			}
			return at(next)
		},
	})
}

// replay makes a gap of a recording happen.
func (s *Scheduler) replay(g RecordedGap) {
	if !g.Preempted {
		s.gap(InterruptGap, 0, g.Ns, true)
		return
	}
	wait := math.Max(0, g.Ns-recordedSwitchNs)
	s.use.InvoluntarySwitches++
	s.waitNs += wait
	s.cpuNs += g.Ns - wait
	s.machine.now += g.Ns
}

// recordedSwitchNs is the part of a gap that context switches take, if another thread ran in the
// gap. The kernel charges it to the preempted thread.
const recordedSwitchNs = 2e3
