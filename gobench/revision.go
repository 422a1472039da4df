package gobench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Revision is another revision of a git checkout, checked out beside it.
type Revision struct {
	// Dir is the directory of the revision that corresponds to the one it was asked for.
	Dir string
	// Commit is the revision's full name.
	Commit string

	checkout, tree string
}

// removing is how long the removal of a revision may take.
const removing = 30 * time.Second

// CheckOut checks a revision of the git repository around dir out into the new
// directory tree (git-worktree(1)). Remove it in any case.
func CheckOut(ctx context.Context, dir, revision, tree string) (*Revision, error) {
	commit, err := resolve(ctx, dir, revision)
	if err != nil {
		return nil, err
	}
	prefix, err := tool(ctx, dir, "git", "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	r := &Revision{Commit: commit, checkout: dir, tree: tree}
	r.Dir = filepath.Join(tree, strings.TrimRight(prefix, "\r\n"))
	if _, err := tool(ctx, dir, "git", "-c", "core.hooksPath="+os.DevNull, "worktree", "add", "--detach", "--force", tree, r.Commit); err != nil {
		r.Remove()
		return nil, fmt.Errorf("checking %s out: %w", revision, err)
	}
	if _, err := os.Stat(r.Dir); err != nil {
		r.Remove()
		return nil, fmt.Errorf("%s has no directory %s: choose a revision that has it", revision, prefix)
	}
	return r, nil
}

// resolve returns the full name of a revision's commit.
func resolve(ctx context.Context, dir, revision string) (string, error) {
	if strings.HasPrefix(revision, "-") {
		return "", fmt.Errorf("%q is no revision: give a commit, branch or tag", revision)
	}
	commit, err := tool(ctx, dir, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if shallow, err := tool(ctx, dir, "git", "rev-parse", "--is-shallow-repository"); err == nil && strings.TrimSpace(shallow) == "true" {
			return "", fmt.Errorf("%q is not in this clone, which is shallow: fetch it, for example with git fetch --unshallow", revision)
		}
		return "", fmt.Errorf("%q is no revision of a git checkout around %s: give a commit, branch or tag: %w", revision, dir, err)
	}
	return strings.TrimSpace(commit), nil
}

// RemoveTree removes a checkout that a process left behind, with what git knows of it. One
// that is not there, or not whole, is no error.
func RemoveTree(ctx context.Context, tree string) {
	if _, err := os.Stat(filepath.Join(tree, ".git")); err == nil {
		tool(ctx, tree, "git", "worktree", "remove", "--force", "--force", tree)
	}
}

// Explain adds to an error of the go command in the revision what is special about the revision's own
// checkout, and what can be done: the revision has no go.mod, or its go.mod replaces a module by a folder
// that is not in the repository, which a checkout elsewhere does not have.
func (r *Revision) Explain(ctx context.Context, err error) error {
	root := r.Dir
	for {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil {
			break
		}
		if root == r.tree || !strings.HasPrefix(root, r.tree) {
			return fmt.Errorf("commit %.10s has no go.mod, so that it is no Go module: choose a revision that has one: %w", r.Commit, err)
		}
		root = filepath.Dir(root)
	}
	for module, folder := range replacedByFolders(ctx, root) {
		inside, outside := filepath.Rel(r.tree, filepath.Join(root, folder))
		if filepath.IsAbs(folder) || outside == nil && filepath.IsLocal(inside) {
			continue
		}
		return fmt.Errorf("the go.mod of commit %.10s replaces %s by %s, a folder outside of the repository, and the commit was checked out elsewhere (%s): write the folder's absolute path, move the folder into the repository, or give a copy of go.mod with the absolute path by GOFLAGS=-modfile=FILE: %w",
			r.Commit, module, folder, r.tree, err)
	}
	return err
}

// replacedByFolders returns the modules that a go.mod replaces by folders; nothing where it can't be read.
func replacedByFolders(ctx context.Context, root string) map[string]string {
	output, err := tool(ctx, root, "go", "mod", "edit", "-json")
	var file struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err != nil || json.Unmarshal([]byte(output), &file) != nil {
		return nil
	}
	folders := map[string]string{}
	for _, r := range file.Replace {
		if r.New.Version == "" {
			folders[r.Old.Path] = r.New.Path
		}
	}
	return folders
}

// Remove takes the checkout away, also after an interruption.
func (r *Revision) Remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removing)
	defer cancel()
	_, err := tool(ctx, r.checkout, "git", "worktree", "remove", "--force", "--force", r.tree)
	if gone := os.RemoveAll(r.tree); gone != nil {
		return fmt.Errorf("removing %s: %w: remove it by hand", r.tree, gone)
	}
	if err != nil { // it was never whole
		tool(ctx, r.checkout, "git", "worktree", "prune")
	}
	return nil
}
