package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Counting is how a kernel computes an account of CPU time.
type Counting string

// The ways of counting.
const (
	CountsTicks   Counting = "ticks"   // by ticks: a tick charges a whole interval to the mode in which it finds the thread
	CountsTime    Counting = "time"    // by a clock, at each change of mode
	CountsUnknown Counting = "unknown" // what was observed fits neither
)

// Granularity is how a kernel counts CPU time, as its accounts show it.
//
// Linux may count in three ways (kernel/sched/cputime.c). With CONFIG_TICK_CPU_ACCOUNTING a clock counts the
// sum of user and system time, which is split in the proportion of the ticks that found the thread in either
// mode. With CONFIG_VIRT_CPU_ACCOUNTING a clock counts both, but only on the CPUs for which it is active. Old
// kernels counted all by ticks. A kernel may be built with a way of counting that is not active, so that it is
// inferred from the accounts.
type Granularity struct {
	// Sum is how the sum of user and system time is counted, Split how the two are told apart.
	Sum, Split Counting
	// StepNs is the mean CPU time from one change of the thread's account to the next; NaN if it never changed.
	StepNs float64
	// Steps is the number of observed steps, of half a millisecond of CPU time or more.
	Steps int
}

// Limits of an observation.
const (
	observedSteps   = 100
	stepNs          = 0.5e6 // below the interval of the fastest tick, 1 ms
	fewestSteps     = 10
	longestObserved = time.Second
)

// ObserveGranularity finds how this kernel counts. It observes the account of a thread that alternates between
// user and kernel mode every microsecond or so: a tick charges a whole interval to one mode, however mixed the
// time was. It takes up to a second.
//
// If ctx ends, what was observed so far is judged. If a thread's accounts can't be read, the error is that of
// the system, or a *machine.UnsupportedError.
func ObserveGranularity(ctx context.Context) (Granularity, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	work := workAsLongAs(func() { usageOfThread() })
	begun := time.Now()
	o, err := observe(usageOfThread, func() bool {
		clock.Spin(work)
		return ctx.Err() == nil && time.Since(begun) < longestObserved
	})
	if err != nil {
		return Granularity{}, err
	}
	return o.judge(), nil
}

// workAsLongAs returns the amount of work that takes about as long as a call.
func workAsLongAs(call func()) int {
	least := func(f func()) time.Duration {
		best := time.Duration(math.MaxInt64)
		for range 16 {
			begun := time.Now()
			f()
			best = min(best, time.Since(begun))
		}
		return best
	}
	work, most := 16, least(call)
	for work < 1<<20 && least(func() { clock.Spin(work) }) < most {
		work *= 2
	}
	return work
}

// observation is how a thread's account changed.
type observation struct {
	readings []CPUTime // at least stepNs apart
	changes  int
	last     CPUTime
}

// observe reads an account with work in between, until work returns false or enough steps were observed.
func observe(read func() (CPUTime, error), work func() bool) (*observation, error) {
	first, err := read()
	if err != nil {
		return nil, err
	}
	o := &observation{readings: append(make([]CPUTime, 0, observedSteps+1), first), last: first}
	for len(o.readings) <= observedSteps && work() {
		now, err := read()
		if err != nil {
			return nil, err
		}
		o.take(now)
	}
	return o, nil
}

func (o *observation) take(now CPUTime) {
	if now != o.last {
		o.changes++
		o.last = now
	}
	if now.Since(o.readings[len(o.readings)-1]).SumNs() >= stepNs {
		o.readings = append(o.readings, now)
	}
}

// judge returns how the account is counted.
func (o *observation) judge() Granularity {
	g := Granularity{Sum: CountsUnknown, Split: CountsUnknown, StepNs: math.NaN(), Steps: len(o.readings) - 1}
	if o.changes > 0 {
		g.StepNs = o.last.Since(o.readings[0]).SumNs() / float64(o.changes)
	}
	switch {
	case g.Steps < fewestSteps:
	case o.wholeTicks():
		g.Sum, g.Split = CountsTicks, CountsTicks
	default:
		g.Sum, g.Split = CountsTime, o.split()
	}
	return g
}

// wholeTicks reports whether all readings are whole ticks in both modes. It tries ticks of 100, 250 and 1000
// Hz, which are all whole milliseconds, and of 300 Hz.
func (o *observation) wholeTicks() bool {
	for _, tickNs := range []float64{1e6, 1e9 / 300} {
		whole := func(ns float64) bool { return math.Abs(math.Remainder(ns, tickNs)) <= 1000 } // shown in µs
		all := true
		for _, r := range o.readings {
			all = all && whole(r.UserNs) && whole(r.SystemNs)
		}
		if all {
			return true
		}
	}
	return false
}

// split finds out how the modes are told apart, from the number of steps that went to one mode alone.
func (o *observation) split() Counting {
	var user, system, mixed float64
	for _, step := range o.wholeSteps() {
		switch share := step.SystemNs / step.SumNs(); {
		case share < 0.1:
			user++
		case share > 0.9:
			system++
		default:
			mixed++
		}
	}
	switch steps := user + system + mixed; {
	case steps < fewestSteps:
	case mixed < 0.25*steps && user > 0 && system > 0:
		return CountsTicks
	case mixed > 0.75*steps:
		return CountsTime
	}
	return CountsUnknown
}

// wholeSteps returns the steps from tick to tick: those about as long as the longest quarter. A kernel that
// splits by ticks also updates the sum when the thread loses its CPU. The step that ends there is split in the
// proportion of earlier ticks, and would mislead.
func (o *observation) wholeSteps() []CPUTime {
	var steps, whole []CPUTime
	var ns []float64
	for i := 1; i < len(o.readings); i++ {
		step := o.readings[i].Since(o.readings[i-1])
		steps, ns = append(steps, step), append(ns, step.SumNs())
	}
	slices.Sort(ns)
	long := stats.Quantile(ns, 0.75)
	for _, step := range steps {
		if math.Abs(step.SumNs()-long) < 0.05*long {
			whole = append(whole, step)
		}
	}
	return whole
}

// usageOfThread returns the CPU time of the calling thread by getrusage(2).
func usageOfThread() (CPUTime, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return CPUTime{}, fmt.Errorf("getrusage: %w: allow the system call", err)
	}
	return CPUTime{UserNs: float64(u.Utime.Nano()), SystemNs: float64(u.Stime.Nano())}, nil
}
