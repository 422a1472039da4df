//go:build unix

package fidelity

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
)

// prepareMemory causes page faults, because the kernel provides each page of a new mapping at its
// first access, and moves more data than the core's own caches hold.
func prepareMemory(_ context.Context, s *Sampler) (Task, error) {
	const bytes = 4 << 20
	mapped := func() ([]byte, error) {
		return unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	}
	target, err := mapped()
	if err != nil {
		return Task{}, unavailable(Memory, clock.Refused, err, "free some memory, or raise the limit (ulimit -v)")
	}
	page := os.Getpagesize()
	run := func(ns float64) error {
		for begun := time.Now(); float64(time.Since(begun)) < ns; {
			fresh, err := mapped()
			if err != nil {
				return err
			}
			for at := 0; at < bytes; at += page {
				fresh[at] = 1
			}
			copy(target, fresh)
			if err := unix.Munmap(fresh); err != nil {
				return err
			}
		}
		return nil
	}
	return attempt(s, run, func() error { return unix.Munmap(target) }), nil
}
