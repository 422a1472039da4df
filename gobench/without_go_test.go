package gobench

import (
	"os"
	"path/filepath"
	"runtime"
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

// go list names the remedy where a module's own files are at fault. The advice to ask for packages of the module stood behind it.
func TestFaultyModule(t *testing.T) {
	t.Setenv("GOWORK", "off")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module x\nfoo bar\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Compile(t.Context(), folder, t.TempDir(), []string{"."}, Building{})
	if err == nil || !strings.Contains(err.Error(), "unknown directive: foo") || strings.Contains(err.Error(), "packages of the module") {
		t.Errorf("%v", err)
	}
}

// Outside of a module, go list names no remedy, and nor did the error.
func TestOutsideOfAModule(t *testing.T) {
	t.Setenv("GOWORK", "off")
	for _, pattern := range []string{"./nothere", "./..."} {
		_, err := Compile(t.Context(), t.TempDir(), t.TempDir(), []string{pattern}, Building{})
		if err == nil || !strings.HasSuffix(err.Error(), "change to the folder of their module") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// Without a git command in PATH, the revision was called none of the checkout.
func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, inHistory := History(t.Context(), ".", "HEAD~1", "HEAD", false)
	_, inFolder := GitFolder(t.Context(), ".")
	for _, err := range []error{inHistory, inFolder} {
		if err == nil || !strings.Contains(err.Error(), "install git") || strings.Contains(err.Error(), "revision") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	}
}

// On a file system that is mounted noexec, a binary that was just built may not be started. The advice was to check whether it may
// be executed, without a word of the folder that the user can choose. Here the file itself may not be executed: the system's answer
// is the same.
func TestBinaryThatMayNotBeStarted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permission there")
	}
	binary := filepath.Join(t.TempDir(), "0.test")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Processes{}.Discover(t.Context(), Benchmark{Binary: binary, Dir: "."}, ".")
	for _, want := range []string{binary, "permission denied", "noexec", "set TMPDIR"} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("want %q in it, once: %v", want, err)
		}
	}
}
