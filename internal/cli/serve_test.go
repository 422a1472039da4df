package cli

import (
	"context"
	"io"
	"os/signal"
	"runtime/debug"
	"syscall"
	"testing"

	"chronoscope/machine"
	"chronoscope/record"
)

// What is stopped while it starts has ended as it should: systemd would take another status for a failure.
func TestServeIsStoppedAtTheStart(t *testing.T) {
	percent, memory := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(memory)
		signal.Reset(syscall.SIGHUP)
	}()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f := serveFlags{budget: 0.005}
	f.server.Address = "127.0.0.1:0"
	if err := f.serve(ctx, &call{streams: Streams{Err: io.Discard}, header: &record.Header{Machine: &machine.Machine{}}}); err != nil {
		t.Error(err)
	}
}
