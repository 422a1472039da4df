package exporter

import (
	"context"
	"io/fs"
	"os"
	"testing"

	"chronoscope/activity"
	"chronoscope/machine"
	"chronoscope/tracepoint"
)

// Names that fail for want of memory are tried again after a survey; rights, which don't come back, are not. An earlier
// version gave up for good after any failure.
func TestNamesAreTriedAgain(t *testing.T) {
	for reason, want := range map[tracepoint.Reason]int{tracepoint.LockedMemory: 2, tracepoint.PermissionDenied: 1, tracepoint.NoTracefs: 1} {
		p, err := NewProbe(t.Context(), machine.Identify(), nil, os.DirFS("/"), 1)
		if err != nil {
			t.Skip(err)
		}
		defer p.Close()
		tries := 0
		p.follow = func([]int, bool, fs.FS) (func() activity.KernelEvents, error) {
			tries++
			return nil, &tracepoint.Unavailable{Reason: reason}
		}
		failed := 0
		watch := func() {
			turn := Turn{}
			p.watch(t.Context(), &turn)
			failed += len(turn.Failures)
		}
		watch()
		watch()
		ended, end := context.WithCancel(t.Context())
		end()
		p.Survey(ended, 1)
		watch()
		watch()
		if tries != want || failed != want {
			t.Errorf("%s: %d tries, of which %d are told; want %d", reason, tries, failed, want)
		}
	}
}
