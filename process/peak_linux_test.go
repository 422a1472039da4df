package process

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// wait4(2) tells of a small untraced program the memory of the process that started it. Only more is the program's.
func TestPeakOfUntraced(t *testing.T) {
	ours := peakResident(os.Getpid())
	if ours == 0 {
		t.Skip("this process's memory can't be read")
	}
	least := 3 * ours
	large := Command{Path: "dd", Args: []string{"if=/dev/zero", "of=/dev/null", "count=1", fmt.Sprintf("bs=%d", least)}, Untraced: true}
	r, err := large.Run(context.Background())
	if err != nil || r.ExitCode != 0 || r.MaxRSSBytes < least || r.MaxRSSBytes > 2*least {
		t.Errorf("%v, %v: %d bytes, want a little more than %d", err, r.Failure(), r.MaxRSSBytes, least)
	}
	small := Command{Path: "true", Untraced: true}
	if r, err := small.Run(context.Background()); err != nil || r.MaxRSSBytes != 0 {
		t.Errorf("%v: %d bytes, which are this process's", err, r.MaxRSSBytes)
	}
	var first tools
	if first.peakOf(1) != 0 || first.ownPeakBytes < ours {
		t.Errorf("this process's peak is %d bytes, by the tools %d", ours, first.ownPeakBytes)
	}
	known := tools{ownPeakBytes: 1 << 50} // more than it has, which shows whether it is read again
	if known.peakOf(1<<50) != 0 || known.ownPeakBytes != 1<<50 {
		t.Errorf("this process's peak was read again, between two runs: %d bytes", known.ownPeakBytes)
	}
	if got := peakBeyond(3<<20, 0); got != 0 {
		t.Errorf("where this process's peak can't be read: %d bytes", got)
	}
}
