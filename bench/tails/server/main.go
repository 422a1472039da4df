// Command server compares a meter's percentiles with those of a load generator: vegeta
// (github.com/tsenart/vegeta) sends requests to an HTTP server at a fixed rate, and meters that time 1 call in
// 1, 16 and 128 time the same calls.
//
//	cd bench && go run ./tails/server -rate 1500 -duration 30s
//
// The server works on a few requests at a time, and stands still now and then, so that requests queue before
// they begin. The generator measures what a caller sees, from the time at which a request was due. The meter
// measures the same with [meter.Meter.StartAt], and also what calls take by themselves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"chronoscope/bench/internal/command"
	"chronoscope/env"
	"chronoscope/meter"
	"chronoscope/stats"
)

func main() { command.Main("server", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	rate := flags.Int("rate", 1500, "requests a second")
	duration := flags.Duration("duration", 30*time.Second, "how long requests are made")
	typical := flags.Duration("typical", 2*time.Millisecond, "median of the time that a request takes")
	slots := flags.Int("slots", 16, "requests that are worked on at a time")
	stall := flags.Duration("stall", 100*time.Millisecond, "how long the server stands still, every five seconds; 0 for never")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rate < 1 || *duration <= 0 || *typical <= 0 || *slots < 1 || *stall < 0 {
		return errors.New("-rate, -duration, -typical and -slots have to be positive, -stall at least 0")
	}
	s := &service{typical: *typical, slots: make(chan struct{}, *slots), interval: time.Second / time.Duration(*rate)}
	if err := s.makeMeters(ctx); err != nil {
		return err
	}
	server := httptest.NewServer(s)
	defer server.Close()
	during, cancel := context.WithTimeout(ctx, *duration)
	defer cancel()
	go s.standStill(during, *stall)
	sent, due := s.attack(ctx, server.URL, *rate, *duration)
	fmt.Fprintf(stdout, "%d requests at %d a second\n", len(due), *rate)
	fmt.Fprintf(stdout, "generator, from when it sent    %s\n", stats.TailsOf(sent))
	fmt.Fprintf(stdout, "generator, from when it was due %s\n", stats.TailsOf(due))
	fmt.Fprintf(stdout, "handler by time.Now, from Start %s\n", stats.TailsOf(s.took))
	for i, m := range s.meters {
		r := m.Snapshot().Report()
		fmt.Fprintf(stdout, "meter 1 in %-3d from when due    %s\n", oneIn[i], r.FromIntended)
		fmt.Fprintf(stdout, "meter 1 in %-3d from Start       %s\n", oneIn[i], r.Tails)
	}
	return ctx.Err()
}

var oneIn = []int{1, 16, 128}

// service answers after log-normally distributed times; the meters see all calls.
type service struct {
	typical  time.Duration
	slots    chan struct{}
	interval time.Duration
	meters   []*meter.Meter
	began    atomic.Pointer[time.Time] // of the attack
	still    sync.RWMutex

	mutex sync.Mutex
	took  []float64
}

func (s *service) makeMeters(ctx context.Context) error {
	fine, err := env.Open(ctx, 100*time.Millisecond, env.Clocks()...)
	if err != nil {
		return err
	}
	source, err := meter.KernelTick()
	if err != nil {
		return err
	}
	for _, n := range oneIn {
		s.meters = append(s.meters, meter.New("handler", source, meter.Sampled(n), meter.WithTails(fine)))
	}
	return nil
}

// ServeHTTP waits for a slot, and then works.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, _ := strconv.Atoi(r.Header.Get("X-Vegeta-Seq"))
	due := s.due(number)
	s.slots <- struct{}{}
	starts := make([]meter.Start, len(s.meters))
	for i, m := range s.meters {
		starts[i] = m.StartAt(due)
	}
	began := time.Now()
	s.still.RLock()
	time.Sleep(time.Duration(float64(s.typical) * math.Exp(0.7*rand.NormFloat64())))
	s.still.RUnlock()
	took := time.Since(began)
	for i, m := range s.meters {
		m.Stop(starts[i])
	}
	<-s.slots
	s.mutex.Lock()
	s.took = append(s.took, float64(took))
	s.mutex.Unlock()
	_, _ = w.Write([]byte("done\n"))
}

// due returns when a request is due, given its number from 0: the generator waits for an interval before the first one.
func (s *service) due(number int) time.Time {
	return s.began.Load().Add(time.Duration(number+1) * s.interval)
}

// standStill stops the work on all requests every five seconds.
func (s *service) standStill(ctx context.Context, length time.Duration) {
	for length > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Second):
		}
		s.still.Lock()
		time.Sleep(length)
		s.still.Unlock()
	}
}

// attack makes requests at a fixed rate, whatever becomes of earlier ones, until ctx ends. It returns their times in
// nanoseconds, from when they were sent and from when they were due.
func (s *service) attack(ctx context.Context, url string, rate int, duration time.Duration) (sent, due []float64) {
	attacker := vegeta.NewAttacker(vegeta.Workers(64), vegeta.Connections(4096))
	target := vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodGet, URL: url})
	defer context.AfterFunc(ctx, func() { attacker.Stop() })()
	began := time.Now()
	s.began.Store(&began)
	for r := range attacker.Attack(target, vegeta.Rate{Freq: rate, Per: time.Second}, duration, "tails") {
		if r.Error != "" {
			continue
		}
		ends := r.Timestamp.Add(r.Latency)
		sent = append(sent, float64(r.Latency))
		due = append(due, math.Max(0, float64(ends.Sub(s.due(int(r.Seq))))))
	}
	return sent, due
}
