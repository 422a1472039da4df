package record

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// fullFolder is an environment variable that makes the test binary the writer without room.
const fullFolder = "CHRONOSCOPE_TEST_FULL"

// A writer that runs out of room halfway returns an error, and leaves nothing behind. A limit on
// the size of files stands for a full disk.
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
	unix.Setrlimit(unix.RLIMIT_FSIZE, &old) // the test's own output needs room, too
	if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "nothing was kept") {
		t.Errorf("%v", err)
	}
}

// A pipe or a device in the folder is listed as unreadable, without waiting for it.
func TestListReadsNoDevices(t *testing.T) {
	a := ArchiveIn(t.TempDir())
	if err := os.Symlink(os.DevNull, filepath.Join(a.Folder, "device.json")); err != nil {
		t.Fatal(err)
	}
	entries, err := List(a)
	if err != nil || len(entries) != 1 || entries[0].Error == nil || !strings.Contains(*entries[0].Error, "it is a device: give a regular file") {
		t.Errorf("%v, %v", entries, err)
	}
}

// In a folder that may be written but not read, a record is kept, but its name can't be
// synchronised: the error does not say that nothing was kept.
func TestKeptWithoutSynchronising(t *testing.T) {
	folder := t.TempDir()
	for name, mode := range map[string]os.FileMode{filepath.Dir(folder): 0o755, folder: 0o333} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(folder, 0o755)
	var file string
	var err error
	suits := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread, whose user is "nobody", ends with the goroutine
		const nobody = 65534
		unix.Setfsuid(nobody) // root ignores permissions
		_, unread := os.ReadDir(folder)
		suits = unread != nil && os.WriteFile(filepath.Join(folder, "new"), nil, 0o644) == nil
		file, err = ArchiveIn(folder).Keep(sample("doctor", someDay))
	}()
	<-done
	if !suits {
		t.Skip("there is no folder here that can be written and not read")
	}
	if err == nil || strings.Contains(err.Error(), "nothing was kept") || !strings.Contains(err.Error(), file) {
		t.Errorf("%q, %v", file, err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err != nil {
		t.Errorf("it is not there: %v", err)
	}
}
