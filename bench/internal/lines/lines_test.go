package lines

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What was appended in two goes is read again, a file that breaks off is no shorter file, and no file is no error where
// that is asked for.
func TestAppendAndRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "values")
	if values, err := ReadIfThere[string](name); err != nil || values != nil {
		t.Errorf("%q: %v", values, err)
	}
	if _, err := Read[string](name); err == nil {
		t.Error("a file that is not there is read")
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
