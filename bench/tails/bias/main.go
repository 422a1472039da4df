// Command bias says how far percentiles lie from the truth, on average, if a clock that moves in steps reads
// the durations. It compares package stats, a plain sort, and HdrHistogram with three digits.
//
//	cd bench && go run ./tails/bias -trials 1000
//
// The durations are log-normal, of two modes, or Pareto, of some 1 µs to 5 µs. The truth is the quantile of the
// distribution. Only package stats has an interval: its width is printed, as a share of the truth, with how
// often it covers the truth.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/bench/internal/command"
	"chronoscope/stats"
)

func main() { command.Main("bias", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bias", flag.ContinueOnError)
	trials := flags.Int("trials", 200, "simulations of each kind")
	durations := flags.Int("durations", 4000, "in each of them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(23, 4))
	for _, d := range distributions(random) {
		for _, step := range []float64{1, 10, 100, 1000} {
			fmt.Fprintf(stdout, "%s, steps of %v ns\n", d.name, step)
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := d.compare(stdout, random, step, *trials, *durations); err != nil {
				return err
			}
		}
	}
	return nil
}

type distribution struct {
	name     string
	draw     func() float64
	quantile func(p float64) float64
}

func distributions(random *rand.Rand) []distribution {
	logNormal := distuv.LogNormal{Mu: math.Log(1000), Sigma: 0.5, Src: random}
	pareto := distuv.Pareto{Xm: 500, Alpha: 1.5, Src: random}
	fast, slow := distuv.Normal{Mu: 1000, Sigma: 20, Src: random}, distuv.Normal{Mu: 5000, Sigma: 100, Src: random}
	return []distribution{
		{"log-normal", logNormal.Rand, logNormal.Quantile},
		{"Pareto", pareto.Rand, pareto.Quantile},
		{"two modes", func() float64 {
			if random.IntN(100) < 3 {
				return slow.Rand()
			}
			return fast.Rand()
		}, func(p float64) float64 {
			if p < 0.97 { // the modes do not overlap
				return fast.Quantile(p / 0.97)
			}
			return slow.Quantile((p - 0.97) / 0.03)
		}},
	}
}

// compare prints a line for each percentile.
func (d distribution) compare(w io.Writer, random *rand.Rand, step float64, trials, durations int) error {
	var ours, sorted, hdr, width [4]float64
	var covered [4]int
	for range trials {
		h := hdrhistogram.New(1, 1e12, 3)
		readings := make([]float64, durations)
		for i := range readings {
			readings[i] = step * math.Floor(d.draw()/step+random.Float64())
			if err := h.RecordValue(int64(math.Min(readings[i], 1e12))); err != nil {
				return err
			}
		}
		slices.Sort(readings)
		for i, e := range stats.TailsOfReadings(readings, step).Percentiles {
			p := stats.TailPercentiles[i]
			truth := d.quantile(p)
			ours[i] += e.Value/truth - 1
			sorted[i] += stats.Quantile(readings, p)/truth - 1
			hdr[i] += float64(h.ValueAtQuantile(100*p))/truth - 1
			width[i] += (e.Hi - e.Lo) / truth
			if e.Covers(truth) {
				covered[i]++
			}
		}
	}
	n := float64(trials)
	for i, p := range stats.TailPercentiles {
		fmt.Fprintf(w, "  p%-5g bias %+7.2f %%, a sort's %+7.2f %%, HdrHistogram's %+7.2f %%; %d of %d intervals cover, %.1f %% wide\n",
			100*p, 100*ours[i]/n, 100*sorted[i]/n, 100*hdr[i]/n, covered[i], trials, 100*width[i]/n)
	}
	return nil
}
