package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The other revision was checked out in the folder for temporary files. That often lies in memory, and the working tree on a
// disk or a share: a benchmark that reads files of its folder was slower in the working tree, with equal code.
func TestRevisionLiesBesideTheWorkingTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("it asks git")
	}
	repository := t.TempDir()
	if err := os.WriteFile(filepath.Join(repository, "go.mod"), []byte("module example.com/m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"init -q", "add .", "commit -q -m one"} {
		all := append([]string{"-C", repository, "-c", "user.name=a", "-c", "user.email=a@example.com"}, strings.Fields(args)...)
		if out, err := exec.Command("git", all...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	t.Setenv("GOWORK", "off")
	e := benchExperiment{flags: &benchFlags{directory: repository, against: "HEAD"}}
	revision, err := e.checkOut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	where, err := filepath.Rel(filepath.Join(repository, ".git"), revision.Dir)
	if _, missing := os.Stat(filepath.Join(revision.Dir, "go.mod")); err != nil || missing != nil || !filepath.IsLocal(where) {
		t.Errorf("the revision lies in %s: %v, %v", revision.Dir, err, missing)
	}
	if err := e.undo(); err != nil {
		t.Error(err)
	}
	after, _ := filepath.Glob(filepath.Join(repository, ".git", "*"))
	if left := strings.Join(after, " "); len(after) == 0 || strings.Contains(left, scratchPrefix) {
		t.Errorf("left in .git: %s", left)
	}
}

// Each gate left some 20 MB of two packages in the cache of the go command, since it compiled the other
// revision in a folder with another name each time.
func TestScratchHasTheSameName(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if runtime.GOOS == "windows" {
		t.Skip("the folder for temporary files is another variable's there")
	}
	scratch := func(module string) (directory string, release func()) {
		directory, owner, err := newScratch(t.Context(), module)
		if err != nil {
			t.Fatal(err)
		}
		return directory, func() { os.RemoveAll(directory); owner.Close() }
	}
	first, release := scratch("here")
	atOnce, releaseToo := scratch("here")
	other, releaseOther := scratch("there")
	if first == atOnce || first == other {
		t.Errorf("two at once: %s, %s and %s", first, atOnce, other)
	}
	releaseToo()
	releaseOther()
	release()
	again, release := scratch("here")
	defer release()
	if again != first {
		t.Errorf("%s, and then %s", first, again)
	}
}

// A folder that another process cleared and a third one made anew, between the opening and the locking of
// its owner's file, is not left behind.
func TestScratchMadeAnewIsNotLeftBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	directory, owner, err := newScratch(t.Context(), "here")
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(directory)
	again, fresh, err := newScratch(t.Context(), "here")
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if isStillThere(again+"/"+scratchOwner, owner) || !isStillThere(again+"/"+scratchOwner, fresh) {
		t.Error("the owner's file of the folder that is gone is taken for that of the new one")
	}
	owner.Close()
	if left := ownerLeftBehind(again); left != nil {
		t.Error("the new folder is taken for one left behind")
	}
}

// A killed gate left another worktree each time in a repository whose path is a pattern.
func TestScratchIsClearedInAnyFolder(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("no lock tells there that the owner has ended")
	}
	parent := filepath.Join(t.TempDir(), "[ci]*")
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	left, owner, err := newScratchIn(t.Context(), parent, "here")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(left, scratchTree), 0o700); err != nil {
		t.Fatal(err)
	}
	owner.Close() // as the kernel does when it is killed
	clearScratch(t.Context(), parent)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s was left: %v", left, err)
	}
}

// Who sets a folder for the go command's temporary files has its tests built and run there.
func TestScratchLiesWhereGoHasItsFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folder for temporary files is another variable's there")
	}
	usual, ofGo, settings := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(settings, []byte("GOTMPDIR="+ofGo+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", usual)
	for _, c := range []struct{ variable, file, want string }{{"", "off", usual}, {ofGo, "off", ofGo}, {"", settings, ofGo}} {
		t.Setenv("GOTMPDIR", c.variable)
		t.Setenv("GOENV", c.file)
		directory, owner, err := newScratch(t.Context(), ".")
		if err != nil {
			t.Fatal(err)
		}
		owner.Close()
		if os.RemoveAll(directory); filepath.Dir(directory) != c.want {
			t.Errorf("GOTMPDIR %q, settings in %s: %s, want it in %s", c.variable, c.file, directory, c.want)
		}
	}
	t.Setenv("GOTMPDIR", filepath.Join(usual, "missing"))
	if _, _, err := newScratch(t.Context(), "."); err == nil || !strings.Contains(err.Error(), "set GOTMPDIR to ") {
		t.Errorf("a folder that is missing: %v", err)
	}
}
