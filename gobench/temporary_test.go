package gobench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// The go command and the linker that it starts are killed when the context ends, and left go-build and go-link folders in the folder
// for temporary files.
func TestInterruptedBuildLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folder for temporary files is another variable's there")
	}
	folder, into := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{"TMPDIR": folder, "GOTMPDIR": folder, "GOCACHE": t.TempDir(), "GOWORK": "off", "GOFLAGS": ""} {
		t.Setenv(name, value)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	go func() { // the cache is empty, so that the build takes long
		for building := false; !building && ctx.Err() == nil; time.Sleep(time.Millisecond) {
			for _, where := range []string{folder, filepath.Join(into, "*")} {
				made, _ := filepath.Glob(filepath.Join(where, "go-build*"))
				building = building || len(made) > 0
			}
		}
		interrupt()
	}()
	if _, err := Compile(ctx, "testdata/memo", into, []string{"."}, Building{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was not interrupted: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
