package clocktest

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
)

// The recordings of shared cores are of milan and of a Xeon like that of the other recordings ([Recordings]), while other guests
// of the host used the core's second hyperthread: for three quarters of the time on milan, for 42 and 46 % on the Xeon. Each lasts
// ten seconds. A digit each slotNs says by how many tenths independent instructions took longer then (clock.PortProbe).
const slotNs = 50e3

// SharedCore is a recording of a core that something else used, too.
type SharedCore struct {
	Name string
	// Slowed is the share by which independent instructions took longer, every 50 µs.
	Slowed []float64
}

// SharedCores reads the recordings of shared cores, in the order of their names.
func SharedCores() ([]SharedCore, error) { return readAll(".hex.gz", readSharedCore) }

func readSharedCore(name string, from io.Reader) (SharedCore, error) {
	core := SharedCore{Name: name}
	failed := func(err error) (SharedCore, error) { return SharedCore{}, fmt.Errorf("%s: %w", name, err) }
	plain, err := gzip.NewReader(from)
	if err != nil {
		return failed(err)
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		return failed(err)
	}
	for _, digit := range text {
		tenths, err := strconv.ParseUint(string(digit), 16, 8)
		if err != nil {
			return failed(err)
		}
		slowed := float64(tenths) / 10
		if tenths > 0 {
			slowed += 0.05
		}
		core.Slowed = append(core.Slowed, slowed)
	}
	return core, nil
}

// SlowedWhileShared returns the share by which work takes longer that is slowed by cost while its core is shared, however
// much independent instructions are slowed.
func SlowedWhileShared(cost float64) func(slowed float64) float64 {
	return func(slowed float64) float64 {
		if slowed > 0 {
			return cost
		}
		return 0
	}
}

// SharedWork is work that ran on a shared core: its time, and by which share independent instructions took longer when it
// began and when it ended.
type SharedWork struct{ Ns, SlowedBefore, SlowedAfter float64 }

// Work returns n pieces of work that take about ns each alone, with pauseNs between them. by is the share by which the work
// takes longer while independent instructions take longer by the share slowed. It begins anywhere in the recording.
func (c SharedCore) Work(rng *rand.Rand, n int, ns, pauseNs float64, by func(slowed float64) float64) (all []SharedWork) {
	at := rng.Float64() * slotNs * float64(len(c.Slowed))
	now := func() float64 { return c.Slowed[int(at/slotNs)%len(c.Slowed)] }
	for range n {
		at += pauseNs
		w := SharedWork{SlowedBefore: now()}
		for left := ns * (1 + 0.01*rng.NormFloat64()); left > 0; {
			slower := 1 + by(now())
			step := min(left*slower, slotNs)
			left, at, w.Ns = left-step/slower, at+step, w.Ns+step
		}
		w.SlowedAfter = now()
		all = append(all, w)
	}
	return all
}

// Turns runs several pieces of work on the core, in turns of about sliceNs. They take ns each alone, and begin anywhere in the
// recording. It returns the time for which each had the core.
func (c SharedCore) Turns(rng *rand.Rand, sliceNs float64, ns ...float64) (ran []float64) {
	at, ran, left := rng.Float64()*slotNs*float64(len(c.Slowed)), make([]float64, len(ns)), slices.Clone(ns)
	for turn := 0; slices.Max(left) > 0; turn++ {
		i := turn % len(ns)
		for turnNs := sliceNs * (0.7 + 0.6*rng.Float64()); turnNs > 0 && left[i] > 0; {
			slower := 1 + c.Slowed[int(at/slotNs)%len(c.Slowed)]
			step := min(left[i]*slower, slotNs)
			left[i], at, ran[i], turnNs = left[i]-step/slower, at+step, ran[i]+step, turnNs-step
		}
	}
	return ran
}
