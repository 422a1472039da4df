package record

import (
	"strings"
	"testing"
	"time"
)

// hyperfine starts its timer before the program begins. An earlier version of a comparison with our
// own times did not mention that.
func TestHyperfineTimesIncludeForkAndExec(t *testing.T) {
	d, err := Import(strings.NewReader(`{"results": [{"command": "true", "times": [0.001]}]}`), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.Head().Caveats, "; "); !strings.Contains(got, "its times include fork and exec") {
		t.Error(got)
	}
}
