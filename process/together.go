package process

import (
	"context"
	"sync"
)

// Together runs two programs at the same time, and returns the run of each and its error, as [Command.Run] does. Bound to
// one CPU, they share it in turns of a few milliseconds.
func Together(ctx context.Context, programs [2]Command) (runs [2]Run, errs [2]error) {
	goCode.change(0, 1) // with a GOMAXPROCS of 1, the goroutine that waits for one program keeps the other from being started
	defer goCode.change(0, -1)
	var both sync.WaitGroup
	for i, c := range programs {
		both.Go(func() { runs[i], errs[i] = c.Run(ctx) })
	}
	both.Wait()
	return runs, errs
}
