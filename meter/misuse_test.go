package meter

import (
	"fmt"
	"strings"
	"testing"
)

// A meter of a source that could not be had was a nil pointer at its first call, wherever that was.
func TestMeterWithoutASource(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, `"encode" has no source`) {
			t.Error(said)
		}
	}()
	New("encode", Source{})
}
