package fidelity

import (
	"context"
	"os"
	"time"

	"chronoscope/clock"
)

// sleepFor is Kuperberg's first workload (2011b, section 3).
func sleepFor(ns float64) { time.Sleep(time.Duration(ns)) }

// partnerDelay is how long the partner lets the thread wait.
const partnerDelay = 100 * time.Microsecond

// prepareSyscalls repeats three things: it waits for a byte that a partner writes late, sleeps for a
// moment, and makes many short system calls.
func prepareSyscalls(_ context.Context, s *Sampler) (Task, error) {
	const questions = 200
	in, out, err := os.Pipe()
	if err != nil {
		return Task{}, unavailable(Syscalls, clock.Refused, err, "raise the limit of open files (ulimit -n)")
	}
	wanted, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for range wanted {
			time.Sleep(partnerDelay)
			out.Write([]byte{0})
		}
	}()
	received := make([]byte, 1)
	run := func(ns float64) error {
		for begun := time.Now(); float64(time.Since(begun)) < ns; {
			wanted <- struct{}{}
			if _, err := in.Read(received); err != nil {
				return err
			}
			time.Sleep(partnerDelay / 2)
			for range questions {
				os.Getppid()
			}
		}
		return nil
	}
	return attempt(s, run, func() error {
		close(wanted)
		<-done
		out.Close()
		return in.Close()
	}), nil
}

// prepareHandoff hands control to another goroutine and waits to get it back.
func prepareHandoff(_ context.Context, s *Sampler) (Task, error) {
	const rounds = 50
	there, back := make(chan struct{}), make(chan struct{})
	go func() {
		for range there {
			back <- struct{}{}
		}
		close(back)
	}()
	run := func(ns float64) {
		for begun := time.Now(); float64(time.Since(begun)) < ns; {
			for range rounds {
				there <- struct{}{}
				<-back
			}
		}
	}
	return around(s, run, func() error {
		close(there)
		<-back
		return nil
	}), nil
}
