package validate

import (
	"context"
	"strings"
	"testing"
)

// Who has no folder for temporary files is told what to do.
func TestNoTemporaryFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	if _, _, err := newPrograms(context.Background(), 0, 1, nil); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Error(err)
	}
}
