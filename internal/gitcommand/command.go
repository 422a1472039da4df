// Package gitcommand runs git for the repository around a folder, also within a hook of git, which has variables that name a
// repository and its index.
package gitcommand

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The variables of git that hold for one repository (git rev-parse --local-env-vars) without those of its configuration.
var (
	// ofIndex name what the calling git command works on. With -a, git commit has the next commit's index in a file of its own,
	// and makes the commit from whatever a hook writes into it.
	ofIndex = []string{"GIT_INDEX_FILE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX"}
	ofPlace = []string{"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE"}
	// ofObjects name where objects are: in a hook that decides on a push, those that were pushed.
	ofObjects = []string{"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE"}
)

// New returns a git command for the repository around a folder.
func New(ctx context.Context, folder string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir, command.Env = folder, Environment(ctx, folder)
	return command
}

// Environment returns the environment for git commands in a folder. They use the repository around the folder, with its own
// index. That of GIT_DIR counts if GIT_WORK_TREE is set as well, or if there is no repository around the folder: in a linked
// worktree git sets GIT_DIR alone for its hooks, and would take any folder there for the top of the worktree.
func Environment(ctx context.Context, folder string) []string {
	env := without(os.Environ(), ofIndex)
	if os.Getenv("GIT_DIR") == "" {
		return env
	}
	env = absolute(env, "GIT_DIR", "GIT_WORK_TREE")
	if os.Getenv("GIT_WORK_TREE") != "" {
		return env
	}
	found := repository(ctx, folder, Elsewhere())
	switch {
	case found == nil:
		return env
	case os.SameFile(found, repository(ctx, folder, env)):
		return without(env, ofPlace)
	default:
		return without(env, ofPlace, ofObjects)
	}
}

// Elsewhere returns the environment for programs in a checkout of its own, where git finds the repository by the folder.
func Elsewhere() []string { return without(os.Environ(), ofIndex, ofPlace, ofObjects) }

// ToKeep returns the environment for git commands that write objects and a branch of their own, from that of other commands.
// In a hook that decides on a push, git drops new objects with the push, and so allows no branch that has them.
func ToKeep(env []string) []string {
	if os.Getenv("GIT_QUARANTINE_PATH") == "" {
		return env
	}
	return without(env, []string{"GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY"})
}

// ToCheckOut returns the environment for git commands that make a worktree, from that of other commands. In a hook that decides on a
// push, git sets no HEAD of a worktree either, since the commit may be dropped with the push. The worktree is removed before that, and
// the pushed objects stay readable.
func ToCheckOut(env []string) []string { return without(env, []string{"GIT_QUARANTINE_PATH"}) }

// repository returns the folder of the repository that git finds in a folder, the same one for all its worktrees; nil if it
// finds none.
func repository(ctx context.Context, folder string, env []string) os.FileInfo {
	command := exec.CommandContext(ctx, "git", "rev-parse", "--git-common-dir")
	command.Dir, command.Env = folder, env
	out, err := command.Output()
	if err != nil {
		return nil
	}
	path := strings.TrimRight(string(out), "\r\n")
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// absolute makes paths in variables independent of the folder in which git runs.
func absolute(env []string, names ...string) []string {
	for i, variable := range env {
		name, path, _ := strings.Cut(variable, "=")
		if !slices.Contains(names, name) || path == "" {
			continue
		}
		if path, err := filepath.Abs(path); err == nil {
			env[i] = name + "=" + path
		}
	}
	return env
}

// without returns an environment without some variables.
func without(env []string, lists ...[]string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(lists, func(names []string) bool { return slices.Contains(names, name) })
	})
}
