package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// checkout returns the folder of a new repository with one commit of a Go file, and a function that runs git in it.
func checkout(t *testing.T) (folder string, git func(args ...string)) {
	folder = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	put(t, folder, "a.go", "package a")
	put(t, folder, "sub/b.go", "package b")
	put(t, folder, ".gitignore", "/ignored/\n")
	git("add", ".")
	git("commit", "-q", "-m", "code")
	return folder, git
}

func put(t *testing.T, folder, name, content string) {
	t.Helper()
	file := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Code counts as modified if what a build reads differs from the commit. A file with another time and the same content once
// counted, and a new test did not.
func TestSourceModified(t *testing.T) {
	folder, _ := checkout(t)
	check := func(what string, want bool) {
		t.Helper()
		index := filepath.Join(folder, ".git", "index")
		before, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range []string{"", "sub"} { // a build in one folder reads others
			s, err := SourceIn(t.Context(), filepath.Join(folder, place))
			if err != nil || s == nil || s.Subject != "code" || s.Modified != want {
				t.Errorf("%s, in %q: %+v, %v; want modified %t", what, place, s, err, want)
			}
		}
		if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
			t.Errorf("%s: git's index was written: %v", what, err)
		}
	}
	lock := filepath.Join(folder, ".git", "index.lock") // as of another git that runs
	put(t, folder, ".git/index.lock", "")
	check("a fresh checkout", false)
	other := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(folder, "a.go"), other, other); err != nil {
		t.Fatal(err)
	}
	check("touched", false)
	for _, name := range []string{"result.json", "ignored/c.go", ".cache/c.go", "_old/c.go", "sub/_c.go"} {
		put(t, folder, name, "package c")
	}
	check("files that no build reads", false)
	for _, name := range []string{"new_test.go", "sub/new.go", "new/asm_amd64.s", "sub/go.mod"} {
		put(t, folder, name, "")
		check(name, true)
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, folder, "a.go", "package z")
	check("changed", true)
	if _, err := os.Stat(lock); err != nil {
		t.Error(err)
	}
}

// Git may refuse to tell the commit. A record then once lacked it without a word.
func TestSourceRefused(t *testing.T) {
	if s, err := SourceIn(t.Context(), t.TempDir()); s != nil || err != nil {
		t.Errorf("no repository: %+v, %v", s, err)
	}
	empty := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", empty).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if s, err := SourceIn(t.Context(), empty); s != nil || err != nil {
		t.Errorf("no commit: %+v, %v", s, err)
	}
	folder, git := checkout(t)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull) // which may trust all folders
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1") // git's own tests use it
	s, err := SourceIn(t.Context(), folder)
	if s != nil || err == nil || !strings.Contains(err.Error(), "dubious ownership") || !strings.Contains(err.Error(), "git config --global --add safe.directory") {
		t.Errorf("of another owner: %+v, %v", s, err)
	}
	os.Unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
	git("config", "core.repositoryFormatVersion", "99")
	if s, err := SourceIn(t.Context(), folder); s != nil || err == nil || !strings.Contains(err.Error(), "99") {
		t.Errorf("an unknown format: %+v, %v", s, err)
	}
	t.Setenv("PATH", "")
	if s, err := SourceIn(t.Context(), folder); s != nil || err != nil {
		t.Errorf("no git: %+v, %v", s, err)
	}
}

// In a hook of a linked worktree git says where the repository is, and takes the folder for the top of the worktree. A subfolder
// once seemed to lack all files. The index of the calling git is not that of the folder's repository, either.
func TestSourceInAHook(t *testing.T) {
	folder, git := checkout(t)
	linked := filepath.Join(t.TempDir(), "linked")
	git("worktree", "add", "-q", linked)
	t.Setenv("GIT_DIR", filepath.Join(folder, ".git", "worktrees", "linked"))
	check := func() {
		t.Helper()
		if s, err := SourceIn(t.Context(), filepath.Join(linked, "sub")); err != nil || s == nil || s.Modified {
			t.Errorf("%+v, %v", s, err)
		}
	}
	check()
	os.Unsetenv("GIT_DIR")
	t.Setenv("GIT_INDEX_FILE", filepath.Join(t.TempDir(), "index"))
	check()
}
