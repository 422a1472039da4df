package timermeter

import (
	"context"
	"runtime"
	"sync"
)

var background = context.Background()

// parallel calls f for 0 to n-1, on all CPUs.
func parallel(n int, f func(i int)) {
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		all.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	all.Wait()
}
