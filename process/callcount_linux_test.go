package process

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
)

// dd reads and writes each byte by itself.
func TestCallsAreCounted(t *testing.T) {
	text, err := os.ReadFile("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id")
	if err != nil {
		t.Skipf("the number of the tracepoint can't be read: %v", err)
	}
	event, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	counter := countCalls(event)
	defer counter.close()
	if counter < 0 {
		t.Skip("this user may not count system calls")
	}
	c := Command{Path: "dd", Args: []string{"if=/dev/zero", "of=/dev/null", "bs=1", "count=5000"}, CallsEvent: event}
	if r, err := c.Run(context.Background()); err != nil || r.Untraced == nil && (r.Calls < 10_000 || r.Calls > 11_000) {
		t.Errorf("%v: %d calls, 10,000 and a few expected", err, r.Calls)
	}
	c.CallsEvent = 0
	if r, err := c.Run(context.Background()); err != nil || r.Calls != 0 {
		t.Errorf("%v: %d calls, though they were not to be counted", err, r.Calls)
	}
}
