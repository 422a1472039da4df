package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"chronoscope/gobench"
)

// Names of the folder of compiled tests and of what is in it.
const (
	scratchPrefix = "chronoscope-bench-"
	scratchOwner  = "owner" // a file that is locked as long as its process runs
	scratchTree   = "tree"  // the start of the names of other revisions, each a worktree of git
)

// newScratch makes a folder for compiled tests and the other revision. Those that a process
// left behind that was killed are removed first: the kernel has released the locks on their
// files. The owner's file stays open, and locked, until the folder is removed.
func newScratch(ctx context.Context) (directory string, owner *os.File, err error) {
	clearScratch(ctx, os.TempDir())
	directory, err = os.MkdirTemp("", scratchPrefix)
	if err != nil {
		return "", nil, fmt.Errorf("a directory for the compiled tests: %w: set TMPDIR to one that can be written", err)
	}
	// The file gets its name when it is locked, so that nobody takes it for one left behind.
	fresh := filepath.Join(directory, scratchOwner+".new")
	if owner, err = os.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		tryLock(owner) // where it can't be, the folder stays if this process is killed
		err = os.Rename(fresh, filepath.Join(directory, scratchOwner))
	}
	if err != nil {
		os.RemoveAll(directory)
		return "", nil, fmt.Errorf("a directory for the compiled tests: %w: set TMPDIR to one that can be written", err)
	}
	return directory, owner, nil
}

// clearScratch removes what was left behind there by processes of this user that are gone.
// What can't be removed is left to the next one.
func clearScratch(ctx context.Context, temporary string) {
	found, err := filepath.Glob(filepath.Join(temporary, scratchPrefix+"*"))
	if err != nil {
		return
	}
	for _, directory := range found {
		if isLeftBehind(directory) {
			trees, _ := filepath.Glob(filepath.Join(directory, scratchTree+"*"))
			for _, tree := range trees {
				gobench.RemoveTree(ctx, tree)
			}
			os.RemoveAll(directory)
		}
	}
}

// isLeftBehind reports whether a folder is this user's, and its owner is gone.
func isLeftBehind(directory string) bool {
	info, err := os.Lstat(directory)
	if err != nil || !info.IsDir() || !isOwn(info) {
		return false
	}
	file := filepath.Join(directory, scratchOwner)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || !isOwn(info) {
		return false
	}
	owner, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer owner.Close()
	return tryLock(owner)
}
