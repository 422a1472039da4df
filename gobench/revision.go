package gobench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chronoscope/internal/gitcommand"
)

// Revision is another revision of a git repository, in a checkout of its own.
type Revision struct {
	// Dir is the directory in the checkout that corresponds to the argument of CheckOut.
	Dir string
	// Commit is the revision's full name.
	Commit string
	// NoWorkspace says that there is no go.work around Dir in the checkout. That of a folder around the checkout is not the
	// revision's (see [Building]).
	NoWorkspace bool

	checkout, tree string
}

// ErrNoGit says that there is no git.
var ErrNoGit = errors.New("there is no git command in PATH: install git, or add the folder of its git command to PATH")

// removing is how long the removal of a revision may take.
const removing = 30 * time.Second

// CheckOut checks out a revision of the git repository around dir into the new directory tree (git-worktree(1)). The
// caller has to call Remove on the result. After an error CheckOut leaves no checkout behind, and there is no result.
func CheckOut(ctx context.Context, dir, revision, tree string) (*Revision, error) {
	commit, err := resolve(ctx, dir, revision)
	if err != nil {
		return nil, err
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	r := &Revision{Commit: commit, checkout: dir, tree: tree}
	r.Dir = filepath.Join(tree, strings.TrimRight(prefix, "\r\n"))
	env := gitcommand.ToCheckOut(gitcommand.Environment(ctx, dir))
	if _, err := toolWith(ctx, env, dir, "git", "-c", "core.hooksPath="+os.DevNull, "worktree", "add", "--detach", "--force", tree, r.Commit); err != nil {
		r.Remove()
		return nil, fmt.Errorf("checking %s out: %w", revision, err)
	}
	if _, err := os.Stat(r.Dir); err != nil {
		r.Remove()
		return nil, fmt.Errorf("%s has no directory %s: choose a revision that has it", revision, prefix)
	}
	r.NoWorkspace = r.around("go.work") == ""
	return r, nil
}

// around returns the folder with a file of that name, which is Dir or a folder above it in the checkout; empty if there is none.
func (r *Revision) around(file string) string {
	for folder := r.Dir; strings.HasPrefix(folder, r.tree); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, file)); err == nil {
			return folder
		}
	}
	return ""
}

// HasModule returns an error if there is neither a go.mod nor a go.work around Dir in the checkout. The go command would take one
// that is around the checkout.
func (r *Revision) HasModule() error {
	if r.NoWorkspace && r.around("go.mod") == "" {
		return fmt.Errorf("commit %.10s has no go.mod, so that it is no Go module: choose a revision that has one", r.Commit)
	}
	return nil
}

// GitFolder returns the folder in which git keeps what belongs to the repository around dir. The error is [ErrNoGit] if there is
// no git.
func GitFolder(ctx context.Context, dir string) (string, error) {
	folder, err := git(ctx, dir, "rev-parse", "--git-common-dir")
	if errors.Is(err, exec.ErrNotFound) {
		return "", ErrNoGit
	}
	if folder = strings.TrimRight(folder, "\r\n"); err != nil || filepath.IsAbs(folder) {
		return folder, err
	}
	return filepath.Abs(filepath.Join(dir, folder))
}

// Workspace returns the go.work that the go command uses in dir; empty if it uses none.
func Workspace(ctx context.Context, dir string) string {
	file, err := tool(ctx, dir, "go", "env", "GOWORK")
	if file = strings.TrimSpace(file); err != nil || file == "off" {
		return ""
	}
	return file
}

// Temporary returns the folder that the user set for the temporary files of the go command (GOTMPDIR, or go env -w); empty if
// none is set.
func Temporary(ctx context.Context, dir string) string {
	folder, err := tool(ctx, dir, "go", "env", "GOTMPDIR")
	if err != nil {
		return ""
	}
	return strings.TrimRight(folder, "\r\n")
}

// resolve returns the full name of a revision's commit.
func resolve(ctx context.Context, dir, revision string) (string, error) {
	if strings.HasPrefix(revision, "-") {
		return "", fmt.Errorf("%q is no revision: give a commit, branch or tag", revision)
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if errors.Is(err, exec.ErrNotFound) {
		return "", ErrNoGit
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if from, _, isRange := strings.Cut(revision, ".."); isRange { // no name of a revision may hold ..
			return "", fmt.Errorf("%q is a range of commits: give one of them, such as %s", revision, cmp.Or(from, "HEAD"))
		}
		if shallow, err := git(ctx, dir, "rev-parse", "--is-shallow-repository"); err == nil && strings.TrimSpace(shallow) == "true" {
			return "", fmt.Errorf("%q is not in this clone, which is shallow: fetch it, for example with git fetch --unshallow", revision)
		}
		return "", fmt.Errorf("%q is no revision of a git checkout around %s: give a commit, branch or tag: %w", revision, dir, err)
	}
	return strings.TrimSpace(commit), nil
}

// RemoveTree removes a checkout that a process left behind, and git's record of it. It is no error if the
// checkout is missing or incomplete.
func RemoveTree(ctx context.Context, tree string) {
	if _, err := os.Stat(filepath.Join(tree, ".git")); err == nil {
		toolWith(ctx, gitcommand.Elsewhere(), tree, "git", "worktree", "remove", "--force", "--force", tree)
	}
}

// Explain adds to an error of the go command in the revision what is special about its checkout, and what can
// be done: the revision has no go.mod, or its go.mod replaces a module by a folder outside of the repository,
// which is not found from a checkout elsewhere, or it lacks Go files of the working tree, or a go.work that names a module of
// which the error speaks.
func (r *Revision) Explain(ctx context.Context, err error) error {
	root := r.around("go.mod")
	if root == "" {
		return fmt.Errorf("commit %.10s has no go.mod, so that it is no Go module: choose a revision that has one: %w", r.Commit, err)
	}
	for module, folder := range replacedByFolders(ctx, root) {
		inside, outside := filepath.Rel(r.tree, filepath.Join(root, folder))
		if filepath.IsAbs(folder) || outside == nil && filepath.IsLocal(inside) {
			continue
		}
		return fmt.Errorf("the go.mod of commit %.10s replaces %s by %s, a folder outside of the repository, and the commit was checked out elsewhere (%s): write the folder's absolute path, move the folder into the repository, or give a copy of go.mod with the absolute path by GOFLAGS=-modfile=FILE: %w",
			r.Commit, module, folder, r.tree, err)
	}
	if workspace := Workspace(ctx, r.checkout); workspace != "" && r.NoWorkspace && r.namesAnother(ctx, err) {
		if _, untracked := git(ctx, r.checkout, "ls-files", "--error-unmatch", "--", workspace); untracked != nil {
			return fmt.Errorf("commit %.10s was compiled without %s, which git does not track here: name the modules that it needs in its go.mod, or let git track a go.work: %w", r.Commit, workspace, err)
		}
		return fmt.Errorf("commit %.10s has no go.work, and was compiled with the modules that its go.mod names: choose a revision that has one: %w", r.Commit, err)
	}
	if file := r.untracked(ctx); file != "" {
		return fmt.Errorf("commit %.10s lacks Go files that git does not track, such as %s: if it needs them, let git track them: %w", r.Commit, file, err)
	}
	return err
}

// namesAnother reports whether an error names a module of the working tree's go.work other than the revision's own: one that the
// revision may lack.
func (r *Revision) namesAnother(ctx context.Context, err error) bool {
	modules, failed := tool(ctx, r.checkout, "go", "list", "-m")
	own, unknown := toolWith(ctx, append(gitcommand.Elsewhere(), "GOWORK=off"), r.around("go.mod"), "go", "list", "-m")
	return failed == nil && unknown == nil && slices.ContainsFunc(strings.Fields(modules), func(module string) bool {
		return module != strings.TrimSpace(own) && strings.Contains(err.Error(), module)
	})
}

// untracked returns a Go file that git does not track, in the folder whose revision was checked out; empty if there is none.
func (r *Revision) untracked(ctx context.Context) string {
	files, err := git(ctx, r.checkout, "ls-files", "-z", "--others", "--", "*.go")
	if err != nil {
		return ""
	}
	file, _, _ := strings.Cut(files, "\x00")
	return file
}

// replacedByFolders returns the modules that a go.mod replaces by folders; none if it can't be read.
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

// Remove removes the checkout, also after an interruption.
func (r *Revision) Remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removing)
	defer cancel()
	_, err := git(ctx, r.checkout, "worktree", "remove", "--force", "--force", r.tree)
	if gone := os.RemoveAll(r.tree); gone != nil {
		return fmt.Errorf("removing %s: %w: remove it by hand", r.tree, gone)
	}
	if err != nil { // the checkout was incomplete
		git(ctx, r.checkout, "worktree", "prune")
	}
	return nil
}
