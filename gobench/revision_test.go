package gobench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What fails in a revision's own checkout says what is special about it: a go.mod that is missing, or names
// a folder that is not there. Folders of the repository and absolute ones are no reason.
func TestExplainedFailureOfARevision(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("it asks the go command")
	}
	failed := errors.New("go: it failed")
	for _, c := range []struct{ replace, says string }{
		{"", "has no go.mod, so that it is no Go module: choose a revision that has one: go: it failed"},
		{"../lib", "replaces example.com/lib by ../lib, a folder outside of the repository"},
		{"../../lib", "replaces example.com/lib by ../../lib, a folder outside of the repository"},
		{"./lib", "go: it failed"},
		{"/lib", "go: it failed"},
		{"example.com/other v1.0.0", "go: it failed"},
	} {
		tree := t.TempDir()
		dir := filepath.Join(tree, "sub")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if c.replace != "" {
			text := "module example.com/m\n\ngo 1.21\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => " + c.replace + "\n"
			if err := os.WriteFile(filepath.Join(tree, "go.mod"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := &Revision{Dir: dir, Commit: "0123456789abcdef", checkout: tree, tree: tree}
		err := r.Explain(context.Background(), failed)
		if !errors.Is(err, failed) || !strings.Contains(err.Error(), c.says) || c.says == failed.Error() && err.Error() != c.says {
			t.Errorf("replaced by %q: %v, want %q", c.replace, err, c.says)
		}
	}
}

// A range was called no revision, with git's command and an empty line behind it.
func TestRangeOfCommits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("it asks git")
	}
	dir := t.TempDir()
	if _, err := git(t.Context(), dir, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	for revision, says := range map[string]string{
		"v1..HEAD": `"v1..HEAD" is a range of commits: give one of them, such as v1`, "main...HEAD": "such as main", "..v1": "such as HEAD", "v1": `"v1" is no revision of a git checkout`,
	} {
		if _, err := resolve(t.Context(), dir, revision); err == nil || !strings.Contains(err.Error(), says) || strings.HasSuffix(err.Error(), "\n") {
			t.Errorf("%s: %q, want %q", revision, err, says)
		}
	}
}

// What git does not track is not in the checkout of a revision. The go command advised to get a module that a go.work names.
func TestExplainedByWhatGitDoesNotTrack(t *testing.T) {
	for _, program := range []string{"go", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("it asks " + program)
		}
	}
	t.Setenv("GOWORK", "")
	repository, tree, ctx := t.TempDir(), t.TempDir(), context.Background()
	write := func(folder, name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	add := func(name string) {
		if _, err := git(ctx, repository, "add", "--force", name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := git(ctx, repository, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{repository, tree} {
		write(folder, "go.mod", "module example.com/m\n\ngo 1.21\n")
	}
	write(repository, ".gitignore", "gen.go\ngo.work\n")
	write(repository, "notes.txt", "")
	r := &Revision{Dir: tree, Commit: "0123456789abcdef", checkout: repository, tree: tree, NoWorkspace: true}
	failed := errors.New("go: it failed")
	says := func(what, want string) {
		t.Helper()
		if err := r.Explain(ctx, failed); !errors.Is(err, failed) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	says("all Go files are tracked", "go: it failed")
	write(repository, "gen.go", "package m\n")
	says("a generated file", "commit 0123456789 lacks Go files that git does not track, such as gen.go: ")
	for name, text := range map[string]string{"lib/go.mod": "module example.com/lib\n\ngo 1.21\n", "go.work": "go 1.21\n\nuse (\n\t.\n\t./lib\n)\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(repository, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(repository, name, text)
	}
	says("an error that no workspace explains", "commit 0123456789 lacks Go files")
	failed = errors.New("go: # example.com/m\n./m.go:3:9: undefined: x")
	says("an error of its own module", "commit 0123456789 lacks Go files")
	failed = errors.New("m.go:3:8: no required module provides package example.com/lib/x; to add it:\n\tgo get example.com/lib/x")
	says("a workspace", "commit 0123456789 was compiled without ")
	add("go.work")
	says("a tracked workspace", "commit 0123456789 has no go.work, and was compiled with the modules")
	r.checkout = filepath.Join(repository, "lib")
	if _, err := git(ctx, r.checkout, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	says("a workspace that another repository tracks", "commit 0123456789 was compiled without ")
	r.checkout, r.NoWorkspace, failed = repository, false, errors.New("go: it failed")
	add("gen.go")
	says("what both have", "go: it failed")
}

// A revision is checked out within the repository's own folder, so on its file system. The go command would find there
// what the working tree has and the revision lacks: its go.work, and its go.mod.
func TestCheckOutTakesNothingFromAround(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("it asks git")
	}
	t.Setenv("GOWORK", "")
	repository, ctx := t.TempDir(), context.Background()
	git := func(args ...string) {
		if _, err := tool(ctx, repository, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(repository, name)), 0o700), os.WriteFile(filepath.Join(repository, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	git("tag", "nothing")
	write("sub/go.mod", "module example.com/m\n\ngo 1.21\n")
	write("sub/m_test.go", "package m\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {}\n")
	git("add", ".")
	git("commit", "-q", "-m", "two")
	git("tag", "alone")
	write("go.work", "go 1.21\n\nuse ./sub\n")
	git("add", ".")
	git("commit", "-q", "-m", "three")
	write("go.mod", "module example.com/around\n\ngo 1.21\n")
	folder, err := GitFolder(ctx, filepath.Join(repository, "sub"))
	if same, wrong := os.Stat(filepath.Join(repository, ".git")); err != nil || wrong != nil || !isThere(folder, same) {
		t.Fatalf("git's folder is %s: %v, %v", folder, err, wrong)
	}
	tree := filepath.Join(folder, "tree")
	for revision, noWorkspace := range map[string]bool{"nothing": true, "alone": true, "HEAD": false} {
		from := filepath.Join(repository, "sub")
		if revision == "nothing" {
			from = repository
		}
		r, err := CheckOut(ctx, from, revision, tree)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.HasModule(); (err == nil) == (revision == "nothing") {
			t.Errorf("%s: %v", revision, err)
		}
		if r.NoWorkspace != noWorkspace {
			t.Errorf("%s: no workspace: %v", revision, r.NoWorkspace)
		}
		t.Setenv("GOFLAGS", "-mod=readonly")
		found, err := Building{NoWorkspace: r.NoWorkspace}.list(ctx, r.Dir, []string{"."})
		if revision != "nothing" && (err != nil || len(found) != 1 || found[0].Error != nil || found[0].ImportPath != "example.com/m") {
			t.Errorf("%s: %+v: %v", revision, found, err)
		}
		if err := r.Remove(); err != nil || isThere(tree, nil) {
			t.Errorf("%s was not removed: %v", revision, err)
		}
	}
	if workspace := Workspace(ctx, filepath.Join(repository, "sub")); filepath.Base(workspace) != "go.work" {
		t.Errorf("the working tree's workspace is %q", workspace)
	}
}

// isThere reports whether a folder exists, and is that of info, if it is not nil.
func isThere(folder string, info os.FileInfo) bool {
	found, err := os.Stat(folder)
	return err == nil && (info == nil || os.SameFile(found, info))
}
