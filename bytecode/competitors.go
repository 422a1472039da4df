package bytecode

import (
	"context"
	"runtime"

	"chronoscope/internal/load"
)

// startNice starts n competitors of niceness competitorNice on cpus.
func startNice(ctx context.Context, n int, cpus []int) (*load.Load, error) {
	type outcome struct {
		load *load.Load
		err  error
	}
	started := make(chan outcome)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends together with its niceness
		if err := niceThread(competitorNice); err != nil {
			started <- outcome{nil, err}
			return
		}
		l, err := load.Start(ctx, n, load.Registers, cpus)
		started <- outcome{l, err}
	}()
	o := <-started
	return o.load, o.err
}

const competitorNice = 5
