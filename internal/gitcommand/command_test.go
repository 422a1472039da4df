package gitcommand_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chronoscope/internal/gitcommand"
)

// Git commands use the repository around a folder, whatever a hook's variables name, unless the user names a repository for a
// folder that is in none, or with its worktree. Objects of a push that is not decided stay readable.
func TestRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("it runs git")
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"} {
		t.Setenv(name, "") // so that it is restored
		os.Unsetenv(name)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	git := func(folder string, args ...string) string {
		t.Helper()
		command := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		command.Dir = folder
		out, err := command.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	for _, name := range []string{"one", "other"} {
		git(top, "init", "-q", name)
		if err := os.MkdirAll(in(name+"/sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(name+"/sub/file"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		git(in(name), "add", ".")
		git(in(name), "commit", "-q", "-m", name)
	}
	git(in("one"), "worktree", "add", "-q", in("linked"))
	git(top, "clone", "-q", "--bare", in("one"), in("bare"))
	if err := os.MkdirAll(in("none/sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A commit whose objects are apart from those of the repository.
	objects := "GIT_OBJECT_DIRECTORY=" + in("pushed")
	alternates := "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + in("one/.git/objects")
	if err := os.Mkdir(in("pushed"), 0o700); err != nil {
		t.Fatal(err)
	}
	push := exec.Command("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit-tree", "-m", "pushed", "HEAD^{tree}")
	push.Dir, push.Env = in("one"), append(os.Environ(), objects, alternates)
	out, err := push.Output()
	if err != nil {
		t.Fatal(err)
	}
	pushed := strings.TrimSpace(string(out))

	for _, c := range []struct {
		what, from, folder string
		env                []string
		revision           string
		subject, prefix    string
	}{
		{"no variable", "one", "sub", nil, "HEAD", "one", "sub/"},
		{"a hook of a linked worktree", "linked", in("linked/sub"), []string{"GIT_DIR=" + in("one/.git/worktrees/linked")}, "HEAD", "one", "sub/"},
		{"a hook, in another repository", "linked", in("other/sub"), []string{"GIT_DIR=" + in("one/.git/worktrees/linked")}, "HEAD", "other", "sub/"},
		{"a relative GIT_DIR", "one", "sub", []string{"GIT_DIR=.git"}, "HEAD", "one", "sub/"},
		{"a repository and its worktree", "none", "sub", []string{"GIT_DIR=" + in("bare"), "GIT_WORK_TREE=" + in("none")}, "HEAD", "one", "sub/"},
		{"the same in a repository", "other", "sub", []string{"GIT_DIR=../bare", "GIT_WORK_TREE=."}, "HEAD", "one", "sub/"},
		{"a repository for a folder in none", "none", "sub", []string{"GIT_DIR=" + in("bare")}, "HEAD", "one", ""},
		{"a hook of a push", "one/.git", ".", []string{"GIT_DIR=.", objects, alternates}, pushed, "pushed", ""},
		{"the same, in its worktree", "one/.git", in("linked/sub"), []string{"GIT_DIR=.", objects, alternates}, pushed, "pushed", "sub/"},
		{"the same, in another repository", "one/.git", in("other/sub"), []string{"GIT_DIR=.", objects, alternates}, "HEAD", "other", "sub/"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Chdir(in(c.from))
			for _, variable := range append(c.env, "GIT_INDEX_FILE="+in("missing/index")) {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			got := func(args ...string) string {
				out, err := gitcommand.New(t.Context(), c.folder, args...).CombinedOutput()
				if err != nil {
					t.Errorf("git %q: %v: %s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			if subject := got("log", "-1", "--format=%s", c.revision, "--"); subject != c.subject {
				t.Errorf("%s is %q, want %q", c.revision, subject, c.subject)
			}
			if prefix := got("rev-parse", "--show-prefix"); prefix != c.prefix {
				t.Errorf("it is %q of the worktree, want %q", prefix, c.prefix)
			}
			if index := got("rev-parse", "--git-path", "index"); strings.Contains(index, "missing") {
				t.Errorf("the index is %s", index)
			}
		})
	}
}
