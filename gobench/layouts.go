package gobench

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A function takes some percent more or less time at another address, and its address is the same in all runs of one
// binary. Any edit moves functions. So the effect of the address is noise, which more runs of one binary neither
// show nor average out.
// Pairs are therefore run in several layouts of each revision: functions in the usual order, and in some drawn at random,
// the same for both revisions if they have the same functions. Ratios scatter between layouts, and between the pairs
// of one layout; these are two components of variance. The ratio is that of the layouts drawn at random. The usual
// one is no random draw.

// The place of the stack has an effect, too. It follows from the size of the environment and the path of the binary
// (Mytkowicz, Diwan, Hauswirth and Sweeney, Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009), so that
// each revision would have the same place in all of its processes. So each process gets an environment of a random size.

// Orders links a package with its functions in random orders. All benchmarks of the package share it.
type Orders struct {
	// First is the number of orders that [Arrange] links; 0 and 1 stand for none.
	First int
	// Link links the order with that number, from 1.
	Link   func(ctx context.Context, layout int) (binary string, err error)
	linked []string
	failed error
}

// Others returns orders of the same package, of which [Arrange] links `first`. For each n, from 1, they are others.
func (o *Orders) Others(n, first int) *Orders {
	if o == nil {
		return nil
	}
	return &Orders{First: first, failed: o.failed, Link: func(ctx context.Context, layout int) (string, error) {
		return o.Link(ctx, n*MostLayouts+layout)
	}}
}

// most returns the largest number of orders that are linked if the first ones do not tell enough.
func (o *Orders) most() int {
	if o == nil {
		return 0
	}
	return max(o.First, min(MostLayouts, layoutsGrow*o.First))
}

// upTo returns the binaries of the first n orders. They are linked when they are asked for, several at a time.
func (o *Orders) upTo(ctx context.Context, n int) ([]string, error) {
	missing := n - len(o.linked)
	if missing > 0 && o.failed == nil {
		binaries, errs, places := make([]string, missing), make([]error, missing), make(chan bool, runtime.GOMAXPROCS(0))
		var all sync.WaitGroup
		for i := range missing {
			all.Go(func() {
				places <- true
				binaries[i], errs[i] = o.Link(ctx, len(o.linked)+i+1)
				<-places
			})
		}
		all.Wait()
		if o.failed = cmp.Or(errs...); o.failed == nil {
			o.linked = append(o.linked, binaries...)
		} else {
			for _, binary := range binaries { // the disk may be full
				_ = os.Remove(binary)
			}
		}
	}
	if missing > 0 && o.failed != nil {
		return nil, o.failed
	}
	return o.linked[:n:n], nil
}

// MostLayouts is the largest number of orders. If the first ones do not tell enough, layoutsGrow times as many are linked.
const MostLayouts, layoutsGrow = 64, 4

// Arrange links the packages of benchmarks that are to be compared with their functions in random orders. The error says why that
// failed for one of them, as with a linker before Go 1.23. All of them then have the usual order only.
func Arrange(ctx context.Context, group []Benchmark) (err error) {
	for i := range group {
		b := &group[i]
		if b.Orders == nil || b.Orders.First < 2 {
			continue
		}
		if b.Layouts, err = b.Orders.upTo(ctx, b.Orders.First); err != nil {
			for k := range group {
				group[k].Layouts = nil
			}
			return fmt.Errorf("linking the tests of %s with functions in another order: %w", b.Package, err)
		}
	}
	return nil
}

// grows reports whether the benchmark gets more layouts if the first ones do not tell enough, and grown whether it has them.
func (b Benchmark) grows() bool { return b.first > 0 && b.Orders.most() > b.first }
func (b Benchmark) grown() bool { return len(b.Layouts) > b.first }

// added returns how many layouts the benchmark gets when it grows.
func (b Benchmark) added() int { return b.Orders.most() - b.first }

// affordsLayouts reports whether a group with this number of pairs can have more layouts, and there is time for a pair in each of
// them.
func (m *measurement) affordsLayouts(group []*Series, pairs int, left time.Duration) bool {
	for _, s := range group {
		if !s.Benchmark.grows() || s.Benchmark.grown() || s.NoMoreLayouts != nil {
			return false
		}
	}
	added := group[0].Benchmark.added()
	if group[0].slowedByTracing {
		added *= 2 // every other repetition counts
	}
	pairTime := spentOn(group) / time.Duration(len(group[1].Repetitions)+len(group[1].Duets))
	return left > time.Duration(added)*pairTime && (m.plan.MostRepetitions == 0 || pairs+added <= m.plan.MostRepetitions)
}

// grow links more layouts for the benchmarks of a group that wants them.
func grow(ctx context.Context, group []*Series) error {
	for _, s := range group {
		_, err := s.Benchmark.Orders.upTo(ctx, s.Benchmark.Orders.most())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			group[0].NoMoreLayouts, group[1].NoMoreLayouts = err, err
			return nil
		}
	}
	for _, s := range group {
		s.Benchmark.Layouts = s.Benchmark.Orders.linked
	}
	return nil
}

// mostPadding is the largest size in bytes by which an environment is lengthened: a page.
const mostPadding = 4096

// next returns the layout of the next repetition: the least used one, where the usual one comes last. It also returns how
// often it was used.
func (b Benchmark) next(made []Repetition) (layout, used int) {
	times := make([]int, 1+len(b.Layouts))
	for _, rep := range made {
		times[b.turn(rep.Layout)]++
	}
	used = slices.Min(times)
	return (slices.Index(times, used) + 1) % len(times), used
}

// turn returns the place of a layout in the order in which they are used.
func (b Benchmark) turn(layout int) int { return (layout + len(b.Layouts)) % (1 + len(b.Layouts)) }

// placed returns the benchmark with the binary of a layout, and an environment of a random size.
func (b Benchmark) placed(layout int, rng *rand.Rand) Benchmark {
	if layout > 0 {
		b.Binary = b.Layouts[layout-1]
	}
	b.Padding = rng.IntN(mostPadding)
	return b
}
