package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"chronoscope/clock"
	"chronoscope/kbest"
	"chronoscope/stats"
)

// Access is what the procedures of the experiment do with their data.
type Access string

// The ways of access. Bryant's procedures write. A processor with a store buffer does not wait for the line
// that it writes, so that a miss hardly shows on today's processors. It has to wait for a line that it reads.
const (
	Writing Access = "writing"
	Reading Access = "reading"
)

// CacheCalls are the six calls of Bryant 2003, Figure 9.13, in their order.
var CacheCalls = [6]string{"procA(b1)", "procA(b2)", "procA(b3)", "procA(b1)", "procB(b1)", "procB(b2)"}

// CacheExperiment is the experiment of Figure 9.13, made here many times: six calls follow one another,
// beginning with caches that hold neither the program's code nor the three pieces of data.
//
// Bryant's processor fetched code when it came to it. Today's processors predict the targets of calls, above
// all after the first repetitions, and fetch that code while they wait for something else. Then p and m are
// small, vary by chance, and may be negative: the equations assume that every miss is waited for, and that
// procA costs what procB does.
type CacheExperiment struct {
	Access Access
	// Ns are the six measurements, in nanoseconds, including the two readings of the clock. They are medians
	// over batches of the mean of each batch's middle half, as the clock may be too coarse for the median of
	// single calls. Cycles are the same in cycles of the core; NaN if its rate is unknown.
	Ns, Cycles [6]stats.Estimate
	// C, M, P and D are the solution of practice problem 9.6, in nanoseconds, as medians over batches. C is a
	// call without misses, including the clock's cost; M is loading the code that measures, P loading the
	// procedure, and D loading its data.
	C, M, P, D stats.Estimate
}

// CacheCosts holds the unknowns c, m, p and d of practice problem 9.6 of Bryant 2003, in the unit of the
// measurements. [CacheExperiment] says what they are.
type CacheCosts struct{ C, M, P, D float64 }

// SolveCacheCosts solves the six equations of the calls in CacheCalls by least squares:
//
//	c + m + p + d = y1,  c + d = y2,  c + d = y3,  c = y4,  c + p = y5,  c = y6
//
// m is in y1 only, and apart from y1, p is in y5 only. So both equations hold exactly, and c and c + d are the
// means of their two measurements.
func SolveCacheCosts(y [6]float64) CacheCosts {
	c := (y[3] + y[5]) / 2
	d := (y[1]+y[2])/2 - c
	p := y[4] - c
	return CacheCosts{C: c, M: y[0] - c - p - d, P: p, D: d}
}

// measureCaches makes the experiment the given number of times, some 50 µs each. If ctx ends, the result is of
// the repetitions so far; nil if these are too few. The error is ctx's, or says that lines can't be flushed here, or that there is no
// clock.
func measureCaches(ctx context.Context, e *kbest.Evictor, access Access, repetitions int) (*CacheExperiment, error) {
	if repetitions < fewestRepetitions || repetitions > mostRepetitions {
		return nil, fmt.Errorf("%d repetitions of the cache experiment: choose %d to %d", repetitions, fewestRepetitions, mostRepetitions)
	}
	station, release, err := kbest.Here(ctx, kbest.Setting{})
	if err != nil {
		return nil, err
	}
	defer release()
	t := cacheTrial{clock: station.Clock, evictor: e, a: procA, b: procB, data: make([]eight, 3*apart)}
	if access == Reading {
		t.a, t.b = readA, readB
	}
	coreHz := math.NaN()
	if station.CoreHz != nil {
		coreHz = station.CoreHz()
	}
	rows := make([][6]float64, 0, repetitions)
	for len(rows) < repetitions && ctx.Err() == nil {
		if err := t.clear(); err != nil {
			return nil, err
		}
		rows = append(rows, t.six())
	}
	if len(rows) < fewestRepetitions {
		return nil, ctx.Err()
	}
	x := concludeCaches(access, rows, coreHz)
	if ctx.Err() == nil && !(x.C.Value > 0) {
		return x, fmt.Errorf("%w: %s moves in steps of %.3g ns", errTooCoarse, station.Clock.Name, station.Clock.AccuracyNs)
	}
	return x, ctx.Err()
}

// errTooCoarse says that a clock can't show the calls' times.
var errTooCoarse = errors.New("the calls take no time that the clock shows: a finer clock is needed")

// apart is the distance from each of the three pieces of data to the next, in pieces: more than a prefetcher
// reaches, and not a power of two.
const apart = 133

type cacheTrial struct {
	clock   clock.Rated
	evictor *kbest.Evictor
	a, b    func(*eight)
	data    []eight
}

// clear drops data and code from the caches.
func (t *cacheTrial) clear() error {
	if err := kbest.Flush(t.data); err != nil {
		return err
	}
	return t.evictor.EvictCode()
}

// six makes the six calls.
func (t *cacheTrial) six() (ns [6]float64) {
	b1, b2, b3 := &t.data[0], &t.data[apart], &t.data[2*apart]
	ns[0] = t.timed(t.a, b1)
	ns[1] = t.timed(t.a, b2)
	ns[2] = t.timed(t.a, b3)
	ns[3] = t.timed(t.a, b1)
	ns[4] = t.timed(t.b, b1)
	ns[5] = t.timed(t.b, b2)
	return ns
}

// timed makes one measurement. It is never inlined, so that all six calls are measured by the same code.
//
//go:noinline
func (t *cacheTrial) timed(procedure func(*eight), b *eight) float64 {
	start := t.clock.Start()
	procedure(b)
	return t.clock.Ns(t.clock.End() - start)
}

// A batch has batchRows repetitions; fewer than six batches have no interval.
const (
	batchRows         = 20
	fewestRepetitions = 6 * batchRows
	mostRepetitions   = 1 << 20
)

func medianOf(ns []float64) stats.Estimate { return stats.MedianInterval(ns, "ns") }

// concludeCaches takes medians over batches of repetitions.
func concludeCaches(access Access, rows [][6]float64, coreHz float64) *CacheExperiment {
	x := &CacheExperiment{Access: access}
	var columns [6][]float64
	var c, m, p, d []float64
	for batch := range slices.Chunk(rows, batchRows) {
		var y [6]float64
		for i := range y {
			y[i] = middleMean(batch, i)
			columns[i] = append(columns[i], y[i])
		}
		solved := SolveCacheCosts(y)
		c, m, p, d = append(c, solved.C), append(m, solved.M), append(p, solved.P), append(d, solved.D)
	}
	for i := range x.Ns {
		x.Ns[i] = medianOf(columns[i])
		x.Cycles[i] = x.Ns[i].Scaled(coreHz/1e9, "cycles")
	}
	x.C, x.M, x.P, x.D = medianOf(c), medianOf(m), medianOf(p), medianOf(d)
	return x
}

// middleMean returns the mean of the middle half of one of the six measurements: a few interrupted repetitions
// don't change it.
func middleMean(rows [][6]float64, i int) float64 {
	var values []float64
	for _, row := range rows {
		values = append(values, row[i])
	}
	slices.Sort(values)
	return stat.Mean(values[len(values)/4:(3*len(values)+3)/4], nil)
}
