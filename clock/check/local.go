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

// Request says what of this process's clocks to check.
type Request struct {
	// Clocks are the clocks to check. They are also one another's references, so that all clocks
	// that can be read should be there, above all monotonic-raw and monotonic. A clock whose tick
	// has no length is checked for its order only.
	Clocks []clock.Rated
	Plan   Plan
	// CPUs are the CPUs that hand readings over; if empty, those that the calling thread may use.
	CPUs     []int
	Seed     uint64
	Progress func(share float64, doing string)
}

// Local checks clocks of this process, for as long as the plan says. Clocks of a
// thread have to be those of the calling one, to which the goroutine has to be
// locked. Where ctx ends it early, the report judges what was gathered, and comes
// with ctx's error; there is no other.
func Local(ctx context.Context, q Request) (*Report, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	started := time.Now()
	b := bench{
		root:       os.DirFS("/"),
		nowNs:      func() float64 { return float64(time.Since(started).Nanoseconds()) },
		wait:       wait,
		discipline: readDiscipline,
		rng:        rand.New(rand.NewPCG(q.Seed, 1)),
		progress:   q.Progress,
	}
	if b.progress == nil {
		b.progress = func(float64, string) {}
	}
	cpus := q.CPUs
	if len(cpus) == 0 {
		cpus, _ = machine.Affinity() // where it can't be had, nothing is handed over
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

// answerTime is time enough for a busy scheduler, not for a thread that never gets
// to run.
const answerTime = 200 * time.Millisecond

// wait rests for a while, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
