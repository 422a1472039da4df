package record

import (
	"strings"
	"testing"
	"time"
)

// What hyperfine times begins before the program does. A comparison with ours said nothing of it.
func TestHyperfineTimesIncludeForkAndExec(t *testing.T) {
	d, err := Import(strings.NewReader(`{"results": [{"command": "true", "times": [0.001]}]}`), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.Head().Caveats, "; "); !strings.Contains(got, "its times include fork and exec") {
		t.Error(got)
	}
}
