package validate

import (
	"context"
	"fmt"

	"chronoscope/internal/load"
)

// competition are the competitors of a load.
type competition struct {
	n, cpu  int
	running *load.Load
}

func (c *competition) renew(ctx context.Context) (err error) {
	c.stop()
	c.running, err = load.Start(ctx, c.n, load.Registers, []int{c.cpu})
	return err
}

func (c *competition) lost() int { return c.running.Lost() }

func (c *competition) stop() {
	if c.running != nil {
		c.running.Stop()
	}
}

// marked is something with what was wrong with it.
type marked[T any] struct {
	value T
	marks []string
}

// retried tries a second time where something was wrong the first time. Competitors that
// ended are replaced.
func retried[T any](ctx context.Context, crowd *competition, try func() (T, []string, error)) (marked[T], error) {
	var m marked[T]
	for range 2 {
		value, marks, err := try()
		if err != nil {
			return m, err
		}
		if lost := crowd.lost(); lost > 0 {
			marks = append(marks, fmt.Sprintf("%d of %d competitors ended meanwhile, so that the load was less", lost, crowd.n))
			if err := crowd.renew(ctx); err != nil {
				return m, err
			}
		}
		if m = (marked[T]{value, marks}); len(marks) == 0 {
			break
		}
	}
	return m, nil
}
