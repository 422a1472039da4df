package cli

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"chronoscope/gobench"
)

// Names of the folder for compiled tests, and of its contents.
const (
	scratchPrefix = "chronoscope-bench-"
	scratchOwner  = "owner" // a file that is locked while its process runs
	scratchTree   = "tree"  // the beginning of the names of the worktrees of other revisions
)

// newScratch makes a folder for the compiled tests of a module and the other revision, where the go command has its temporary
// files. First it removes the folders of processes that were killed: the kernel has released the locks on their files. The
// owner's file stays open, and locked, until the folder is removed.
func newScratch(ctx context.Context, module string) (directory string, owner *os.File, err error) {
	parent, variable := os.TempDir(), "TMPDIR"
	if folder := gobench.Temporary(ctx, module); folder != "" {
		parent, variable = folder, "GOTMPDIR"
	}
	if directory, owner, err = newScratchIn(ctx, parent, module); err != nil {
		err = fmt.Errorf("a directory for the compiled tests: %w: set %s to one that can be written", err, variable)
	}
	return directory, owner, err
}

// newScratchIn is newScratch for a folder in parent.
func newScratchIn(ctx context.Context, parent, module string) (directory string, owner *os.File, err error) {
	clearScratch(ctx, parent)
	directory, err = scratchOf(parent, module)
	if err != nil {
		return "", nil, err
	}
	// The file gets its name after it is locked, so that no other process takes the folder for one left behind.
	fresh := filepath.Join(directory, scratchOwner+".new")
	if owner, err = os.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		tryLock(owner) // if that fails, the folder stays if this process is killed
		err = os.Rename(fresh, filepath.Join(directory, scratchOwner))
	}
	if err != nil {
		os.RemoveAll(directory)
		return "", nil, err
	}
	return directory, owner, nil
}

// scratchOf makes a folder that has the same name for a module each time, unless a folder of that name is in
// use: the go command compiles a package again if its folder has another path, and keeps both in its cache for
// days.
func scratchOf(parent, module string) (string, error) {
	path, err := filepath.Abs(module)
	name := fnv.New64a()
	name.Write([]byte(path))
	directory := filepath.Join(parent, fmt.Sprintf("%s%016x", scratchPrefix, name.Sum64()))
	if err == nil && os.Mkdir(directory, 0o700) == nil {
		return directory, nil
	}
	return os.MkdirTemp(parent, scratchPrefix)
}

// clearScratch removes the folders in parent that ended processes of this user have left behind. It leaves
// what it can't remove to the next call.
func clearScratch(ctx context.Context, parent string) {
	for _, directory := range inFolder(parent, scratchPrefix) {
		if owner := ownerLeftBehind(directory); owner != nil {
			for _, tree := range inFolder(directory, scratchTree) {
				gobench.RemoveTree(ctx, tree)
			}
			os.RemoveAll(directory)
			owner.Close()
		}
	}
}

// inFolder returns the paths of what lies in a folder, with names that have a prefix. (A pattern for filepath.Glob can't be made
// of any path: /srv/[ci] matches another one.)
func inFolder(folder, prefix string) (paths []string) {
	entries, _ := os.ReadDir(folder) // those that were read
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	return paths
}

// ownerLeftBehind returns the owner's file of a folder of this user, locked, if the owner has ended; otherwise
// nil.
func ownerLeftBehind(directory string) *os.File {
	info, err := os.Lstat(directory)
	if err != nil || !info.IsDir() || !isOwn(info) {
		return nil
	}
	file := filepath.Join(directory, scratchOwner)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || !isOwn(info) {
		return nil
	}
	owner, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	// Another process may have removed the folder meanwhile, and a third one may have made it again.
	if locked := tryLock(owner); !locked || !isStillThere(file, owner) {
		owner.Close()
		return nil
	}
	return owner
}

// isStillThere reports whether a path leads to an open file.
func isStillThere(path string, file *os.File) bool {
	there, err := os.Lstat(path)
	if err != nil {
		return false
	}
	opened, err := file.Stat()
	return err == nil && os.SameFile(there, opened)
}
