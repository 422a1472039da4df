package gobench

import (
	"strings"
	"testing"
)

// Without a go command in PATH the advice was to ask for packages of the module, and later two
// remedies in one message.
func TestWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Compile(t.Context(), ".", t.TempDir(), []string{"."}, Building{})
	if err == nil || !strings.Contains(err.Error(), "install Go") || strings.Contains(err.Error(), "packages of the module") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
