package check

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
)

// Request says which of this process's clocks to check, and how.
type Request struct {
	// Clocks are the clocks to check. They also serve as one another's references, so Clocks
	// should hold all clocks that can be read, above all monotonic-raw and monotonic. If the
	// length of a clock's tick is not known, only its order is checked.
	Clocks []clock.Rated
	Plan   Plan // a zero Plan stands for [DefaultPlan]
	// CPUs are the CPUs that hand readings over; if empty, those that the calling thread may use.
	CPUs     []int
	Seed     uint64
	Progress func(share float64, doing string)
}

// Local checks clocks of this process for as long as the plan says. If a clock counts for a
// thread, the calling goroutine must be locked to that thread. If ctx ends early, Local returns
// the report on what was gathered so far and ctx's error. The only other error is that of a plan with a time below 0,
// or with no time for looks; the report is empty then.
func Local(ctx context.Context, q Request) (*Report, error) {
	if q.Plan == (Plan{}) {
		q.Plan = DefaultPlan
	}
	if err := q.Plan.check(); err != nil {
		return &Report{Findings: []Finding{}}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	started := time.Now()
	b := bench{
		root:       os.DirFS("/"),
		nowNs:      func() float64 { return float64(time.Since(started).Nanoseconds()) },
		wait:       func(ctx context.Context, d time.Duration) { clock.Wait(ctx, d) },
		discipline: readDiscipline,
		rng:        rand.New(rand.NewPCG(q.Seed, 1)),
		progress:   q.Progress,
	}
	if b.progress == nil {
		b.progress = func(float64, string) {}
	}
	cpus := q.CPUs
	if len(cpus) == 0 {
		cpus, _ = machine.Affinity() // after an error no readings are handed over
	}
	if len(cpus) > 1 {
		crew := newBoundCrew(cpus, b.nowNs, answerTime)
		defer crew.close()
		b.crew = crew
	}
	var subjects []*subject
	for _, c := range q.Clocks {
		subjects = append(subjects, newSubject(c))
	}
	return run(ctx, subjects, q.Plan, b), ctx.Err()
}

// answerTime is the longest time to wait for a thread: enough on a busy machine, but finite for
// a thread that never gets to run.
const answerTime = 200 * time.Millisecond
