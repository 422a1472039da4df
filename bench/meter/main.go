// Command meter compares package meter with time.Now on the same calls. An HTTP server hashes a fixed number of
// bytes for each request. A meter on the kernel's coarse clock and a pair of time.Now both time the hashing.
// The command says how far the two means lie apart, and whether the meter's interval covers the other mean.
//
//	cd bench && go run ./meter -duration 60s -procs 2 -busy 2
//
// With a tick of 4 ms the coarse clock moves 250 times a second; each move is an edge. The meter sees only the edges
// that fall into the hashing, so 10,000 of them take more than a minute. Several runs add up: -merge FILE reads what earlier runs counted, and
// writes the sum back.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"chronoscope/bench/internal/command"
	"chronoscope/meter"
	"chronoscope/stats"
)

func main() { command.Main("meter", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("meter", flag.ContinueOnError)
	duration := flags.Duration("duration", 10*time.Second, "how long requests are made")
	procs := flags.Int("procs", runtime.GOMAXPROCS(0), "GOMAXPROCS")
	busy := flags.Int("busy", 0, "goroutines that compute all the time beside the server")
	clients := flags.Int("clients", 16, "clients that make requests")
	size := flags.Int("size", 100_000, "bytes that a request hashes")
	oneIn := flags.Int("one-in", 1, "calls to one that is measured")
	file := flags.String("merge", "", "file that holds what earlier runs counted, and then what all have")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *procs < 1 || *busy < 0 || *clients < 1 || *size < 1 || *oneIn < 1 || *duration <= 0 {
		return errors.New("-procs, -clients, -size, -one-in and -duration have to be positive, and -busy at least 0")
	}
	source, err := meter.KernelTick()
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(*procs)
	e := experiment{m: meter.New("hash", source, meter.Sampled(*oneIn)), body: make([]byte, *size)}
	ctx, cancel := context.WithTimeout(ctx, *duration)
	defer cancel()
	if err := e.run(ctx, *clients, *busy); err != nil {
		return err
	}
	counted := counts{Meter: e.m.Snapshot(), Calls: e.calls.Load(), Ns: e.ns.Load()}
	if *file != "" {
		if counted, err = merged(*file, counted); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "GOMAXPROCS %d, %d busy goroutines, %d clients, %d bytes, 1 call in %d measured\n", *procs, *busy, *clients, *size, *oneIn)
	return counted.print(stdout)
}

// experiment is a server whose handler is timed in two ways.
type experiment struct {
	m         *meter.Meter
	body      []byte
	calls, ns atomic.Int64 // by time.Now
}

// handle times the hashing with time.Now inside of the meter's interval, so that this interval also includes a
// reading of time.Now.
func (e *experiment) handle(w http.ResponseWriter, _ *http.Request) {
	start := e.m.Start()
	began := time.Now()
	sum := sha256.Sum256(e.body)
	took := time.Since(began)
	e.m.Stop(start)
	e.calls.Add(1)
	e.ns.Add(int64(took))
	_, _ = w.Write(sum[:])
}

func (e *experiment) run(ctx context.Context, clients, busy int) error {
	server := httptest.NewServer(http.HandlerFunc(e.handle))
	defer server.Close()
	var all sync.WaitGroup
	for range busy {
		all.Go(func() { compute(ctx) })
	}
	var requests errgroup.Group
	for range clients {
		requests.Go(func() error {
			if err := request(ctx, server); ctx.Err() == nil {
				return err
			}
			return nil
		})
	}
	all.Wait()
	return requests.Wait()
}

func request(ctx context.Context, server *httptest.Server) error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
	}
	return nil
}

func compute(ctx context.Context) {
	sum := sha256.Sum256(nil)
	for ctx.Err() == nil {
		for range 1000 {
			sum = sha256.Sum256(sum[:])
		}
	}
}

// counts are the totals of both ways of timing.
type counts struct {
	Meter     meter.Snapshot
	Calls, Ns int64
}

// merged adds the counts in the file to c, writes the sums to the file, and returns them.
func merged(file string, c counts) (counts, error) {
	text, err := os.ReadFile(file)
	if err == nil {
		var earlier counts
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&earlier); err != nil {
			return c, fmt.Errorf("%s: %w", file, err)
		}
		if c.Meter, err = meter.Merge(earlier.Meter, c.Meter); err != nil {
			return c, err
		}
		c.Calls, c.Ns = c.Calls+earlier.Calls, c.Ns+earlier.Ns
	} else if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	if text, err = json.Marshal(c); err != nil {
		return c, err
	}
	return c, os.WriteFile(file, text, 0o644)
}

// print compares the two means. The cost of time.Now lies inside the meter's interval only, and is added to the
// truth.
func (c counts) print(stdout io.Writer) error {
	cost := nowCostNs()
	truth := float64(c.Ns)/float64(c.Calls) + cost
	r := c.Meter.Report()
	covers := "holds"
	if !r.Mean.Covers(truth) {
		covers = "misses"
	}
	fmt.Fprintf(stdout, "%d calls, %d saw an edge, in %d groups\n", r.Calls, r.Edges, c.Meter.Parts[0].Groups.Count)
	fmt.Fprintf(stdout, "time.Now  %10.3f µs (its own cost of %.0f ns is in the meter's interval, and added here)\n", truth/1000, cost)
	fmt.Fprintf(stdout, "meter     %10.3f µs, %.3f to %.3f, which %s the truth; off by %+.2f %%\n",
		r.Mean.Value/1000, r.Mean.Lo/1000, r.Mean.Hi/1000, covers, 100*(r.Mean.Value/truth-1))
	fmt.Fprintf(stdout, "the tick itself may move it by %.3f µs besides; %s %q\n", r.TickBias.Hi/1000, r.Verdict, r.Reasons)
	return nil
}

// nowCostNs returns the time from one reading of time.Now to the next.
func nowCostNs() float64 {
	var costs []float64
	for range 100 {
		start := time.Now()
		for range 100 {
			_ = time.Now()
		}
		costs = append(costs, float64(time.Since(start))/101)
	}
	return stats.Median(costs)
}
