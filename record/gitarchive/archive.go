// Package gitarchive keeps records in a branch of a git repository that has no commit in common
// with its other branches, so that records need no server of their own.
//
// Each record is a file with a unique name, added by a commit of its own. Branches of two clones
// are merged by taking the files of both. Work trees and the index of the repository are not
// touched. All operations use the git command.
package gitarchive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"chronoscope/internal/gitcommand"
	"chronoscope/record"
)

// DefaultBranch is the branch for records if no other is named.
const DefaultBranch = "chronoscope-records"

// Archive is a branch with records.
type Archive struct {
	Context context.Context
	// Folder is a folder in the repository.
	Folder string
	Branch string
	Host   string // this machine's name, for the names of files
}

var _ record.Store = Archive{}

// In returns the archive in a branch of the repository around a folder. An empty branch means
// [DefaultBranch].
func In(ctx context.Context, folder, branch string) (Archive, error) {
	if branch == "" {
		branch = DefaultBranch
	}
	a := Archive{Context: ctx, Folder: folder, Branch: branch, Host: record.HostName()}
	if _, err := a.git("check-ref-format", "--branch", branch); err != nil {
		return a, fmt.Errorf("%q is no name for a branch: %w", branch, err)
	}
	if _, err := a.git("rev-parse", "--git-dir"); err != nil {
		return a, fmt.Errorf("keeping records in git: there is no git repository around %s: %w", folder, err)
	}
	return a, nil
}

// Place returns "git branch" and the branch's name.
func (a Archive) Place() string { return "git branch " + a.Branch }

func (a Archive) ref() string { return "refs/heads/" + a.Branch }

// Prepare refuses a branch that is checked out: its work tree would seem to have lost each new record. The first record
// creates the branch.
func (a Archive) Prepare() error {
	trees, err := a.git("worktree", "list", "--porcelain")
	if err == nil && strings.Contains(trees+"\n", "\nbranch "+a.ref()+"\n") {
		return fmt.Errorf("the branch %s is checked out, and would seem to lose each new record: check out another one, or name a branch for records alone, such as git:benchmark-records", a.Branch)
	}
	return nil
}

// IndexFile returns a path in git's own folder.
func (a Archive) IndexFile() string {
	folder, err := a.git("rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "chronoscope-history-"+strings.ReplaceAll(a.Branch, "/", "-"))
}

// tries is how often a change of the branch is tried; it fails if another writer was faster.
const tries = 60

// Keep adds a record to the branch. If it returns no error, the record is in the repository, on the
// disk. Several processes may write to the repository at the same time.
func (a Archive) Keep(d record.Document) (file string, err error) {
	text, err := record.Encode(d)
	if err != nil {
		return "", err
	}
	name := record.NameFor(d.Head(), a.Host)
	file = path.Join(monthOf(name), name)
	object, err := a.run(nil, bytes.NewReader(text), "hash-object", "-w", "--stdin")
	if err != nil {
		return "", a.notKept(err)
	}
	err = a.change(func() (string, []string, error) {
		parent := a.head()
		tree, err := a.treeWith(parent, fmt.Sprintf("100644 %s\t%s\n", object, file))
		return tree, []string{parent}, err
	}, "Keep "+name)
	if err != nil {
		return "", a.notKept(err)
	}
	return a.Branch + ":" + file, nil
}

func (a Archive) notKept(err error) error {
	return fmt.Errorf("keeping the record in %s: %w: nothing was kept; keep it in a folder, or write the result to a file with -o", a.Place(), err)
}

// monthOf returns the folder of a record: the year and the month with which its name begins.
func monthOf(name string) string { return name[:min(6, len(name))] }

// change moves the branch to a new commit, with the tree and the parents that next returns for the
// current state of the branch. If another writer moved the branch in the meantime, next is called
// again.
func (a Archive) change(next func() (tree string, parents []string, err error), message string) error {
	var err error
	for try := range tries {
		before := a.commit(a.ref())
		tree, parents, failed := next()
		if failed != nil {
			return failed
		}
		args := []string{"commit-tree", tree, "-m", message}
		for _, p := range parents {
			if p != "" {
				args = append(args, "-p", p)
			}
		}
		commit, failed := a.git(args...)
		if failed != nil {
			return failed
		}
		if before == "" {
			before = strings.Repeat("0", len(commit))
		}
		if _, err = a.git("update-ref", "-m", message, a.ref(), commit, before); err == nil {
			return nil
		}
		if a.Context.Err() != nil {
			break
		}
		time.Sleep(time.Duration(rand.IntN(20*(min(try, 20)+1))) * time.Millisecond)
	}
	return fmt.Errorf("the branch could not be moved in %d tries: %w; a lock that a killed writer left has to be removed by hand", tries, err)
}

// commit returns the commit that a name stands for; empty if there is no such commit.
func (a Archive) commit(ref string) string {
	commit, err := a.git("rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err != nil {
		return ""
	}
	return commit
}

// head returns the commit of the branch, or of the remote branch if only that exists, as in a new clone; empty if neither does.
func (a Archive) head() string {
	if commit := a.commit(a.ref()); commit != "" {
		return commit
	}
	return a.commit("refs/remotes/origin/" + a.Branch)
}

// treeWith returns the tree of a commit with added entries, in the format of git ls-tree.
func (a Archive) treeWith(commit, entries string) (string, error) {
	folder, err := os.MkdirTemp("", "chronoscope-index-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(folder, "index")}
	if commit != "" {
		if _, err := a.run(index, nil, "read-tree", commit); err != nil {
			return "", err
		}
	}
	if _, err := a.run(index, strings.NewReader(entries), "update-index", "--add", "--index-info"); err != nil {
		return "", err
	}
	return a.run(index, nil, "write-tree")
}

// git runs git without input.
func (a Archive) git(args ...string) (string, error) { return a.run(nil, nil, args...) }

// safely makes git synchronise what it writes before it returns, and run no hooks.
var safely = []string{"-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync", "-c", "core.hooksPath=" + os.DevNull, "-c", "commit.gpgSign=false", "-c", "gc.auto=0"}

// command returns a git command. In a hook it uses what the repository has, not what a push adds to it.
func (a Archive) command(args ...string) *exec.Cmd {
	command := gitcommand.New(a.Context, a.Folder, args...)
	command.Env = gitcommand.ToKeep(command.Env)
	return command
}

// run runs git with more variables of the environment, and with input, which may be nil. Its error contains git's message.
func (a Archive) run(environment []string, input io.Reader, args ...string) (string, error) {
	command := a.command(append(append([]string{}, safely...), args...)...)
	command.Env = append(append(command.Env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=chronoscope", "GIT_AUTHOR_EMAIL=chronoscope@"+a.Host,
		"GIT_COMMITTER_NAME=chronoscope", "GIT_COMMITTER_EMAIL=chronoscope@"+a.Host), environment...)
	command.Stdin = input
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("there is no git command: install git, or keep records in a folder: %w", err)
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problems.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
