package process

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// The shell prints its number and its session's, the sixth field of /proc/PID/stat.
func TestSessionOfItsOwn(t *testing.T) {
	for _, own := range []bool{false, true} {
		var printed bytes.Buffer
		c := shell("read -r pid name state parent group session rest </proc/$$/stat; echo $pid $session")
		c.Stdout, c.Untraced, c.OwnSession = &printed, true, own
		if _, err := c.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(printed.String())
		if len(fields) != 2 || (fields[0] == fields[1]) != own {
			t.Errorf("own session %v: the numbers of process and session are %v", own, fields)
		}
	}
}
