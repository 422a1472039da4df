package lines

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What was appended in two goes is read again, a file that breaks off is no shorter file.
func TestAppendAndRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "values")
	if _, err := Read[string](name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	long := strings.Repeat("x", 1<<17)
	for _, part := range [][]string{{"a", long}, {"b"}} {
		if err := Append(name, part...); err != nil {
			t.Fatal(err)
		}
	}
	if values, err := Read[string](name); err != nil || !slices.Equal(values, []string{"a", long, "b"}) {
		t.Errorf("%d values: %v", len(values), err)
	}
	if err := os.WriteFile(name, []byte("\"a\"\n\"b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if values, err := Read[string](name); err == nil || values != nil {
		t.Errorf("%q", values)
	}
}
