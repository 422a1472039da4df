package process

import (
	"context"
	"sync"
)

// Together runs two programs at the same time, and returns what each showed and its error, as [Command.Run] does. Bound to
// one CPU, they share it in turns of a few milliseconds.
func Together(ctx context.Context, programs [2]Command) (runs [2]Run, errs [2]error) {
	goCode.change(0, 1) // on one CPU, the thread that waits for one program would keep Go code from starting the other
	defer goCode.change(0, -1)
	var both sync.WaitGroup
	for i, c := range programs {
		both.Go(func() { runs[i], errs[i] = c.Run(ctx) })
	}
	both.Wait()
	return runs, errs
}
