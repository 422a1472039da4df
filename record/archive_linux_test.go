package record

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// fullFolder tells the test's own program to be the writer that finds no room.
const fullFolder = "CHRONOSCOPE_TEST_FULL"

// A writer that runs out of room part of the way says so, and leaves nothing behind. A
// limit on the size of files stands for a full disk.
func TestNoRoom(t *testing.T) {
	if folder := os.Getenv(fullFolder); folder != "" {
		keepWithoutRoom(t, ArchiveIn(folder))
		return
	}
	folder := t.TempDir()
	writer := exec.Command(os.Args[0], "-test.run=^TestNoRoom$")
	writer.Env = append(os.Environ(), fullFolder+"="+folder)
	if out, err := writer.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func keepWithoutRoom(t *testing.T, a Archive) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limited := old
	limited.Cur = 1000
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	d := sample("doctor", someDay).(Doctor)
	d.Caveats = []string{strings.Repeat("blah ", 1000)}
	_, err := a.Keep(d)
	unix.Setrlimit(unix.RLIMIT_FSIZE, &old) // the test's own report takes room, too
	if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "nothing was kept") {
		t.Errorf("%v", err)
	}
}
