package gitarchive_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/record/gitarchive"
)

func git(t testing.TB, folder string, args ...string) string {
	t.Helper()
	command := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func repository(t testing.TB) string {
	folder := t.TempDir()
	git(t, folder, "init", "-q")
	git(t, folder, "commit", "-q", "--allow-empty", "-m", "code")
	return folder
}

func archive(t testing.TB, folder string) gitarchive.Archive {
	t.Helper()
	a, err := gitarchive.In(t.Context(), folder, "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func document() record.Document {
	return record.Doctor{Header: record.Header{Schema: record.Schema, Command: "doctor", Started: time.Now(), Machine: &machine.Machine{}, Caveats: []string{}}, Findings: []machine.Finding{}}
}

func keep(t testing.TB, s record.Store) string {
	t.Helper()
	file, err := s.Keep(document())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// contents reads all records of a store, and returns how many can be read, and why the others
// can't.
func contents(t testing.TB, s record.Store) (readable int, broken []string) {
	t.Helper()
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	err = s.ReadFiles(files, func(f record.StoredFile, content []byte, err error) {
		lock.Lock()
		defer lock.Unlock()
		if err == nil {
			_, err = record.Parse(content)
		}
		if err != nil {
			broken = append(broken, f.Name+": "+err.Error())
		} else {
			readable++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return readable, broken
}

func wantRecords(t testing.TB, s record.Store, want int) {
	t.Helper()
	if n, broken := contents(t, s); n != want || len(broken) > 0 {
		t.Errorf("%d records, want %d; broken: %q", n, want, broken)
	}
}

func TestKeep(t *testing.T) {
	folder := repository(t)
	before := git(t, folder, "status", "--porcelain", "--branch")
	a := archive(t, folder)
	keep(t, a)
	file := keep(t, a)
	wantRecords(t, a, 2)
	if said, want := git(t, folder, "log", "-1", "--format=%s", gitarchive.DefaultBranch), "Keep "+file[strings.LastIndex(file, "/")+1:]; said != want {
		t.Errorf("the commit says %q, want %q", said, want)
	}
	if after := git(t, folder, "status", "--porcelain", "--branch"); after != before {
		t.Errorf("the work tree was %q and is %q", before, after)
	}
	if shared, err := exec.Command("git", "-C", folder, "merge-base", "HEAD", gitarchive.DefaultBranch).Output(); err == nil {
		t.Errorf("the branch has a commit in common with the code: %s", shared)
	}
	if _, err := gitarchive.In(t.Context(), t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "no git repository") {
		t.Errorf("no repository: %v", err)
	}
	if _, err := gitarchive.In(t.Context(), folder, "-x..y"); err == nil || !strings.Contains(err.Error(), "no name for a branch") {
		t.Errorf("a bad name: %v", err)
	}
}

// A branch that is checked out is refused: its work tree would seem to have lost the records.
func TestCheckedOutBranch(t *testing.T) {
	folder := repository(t)
	checkedOut := git(t, folder, "symbolic-ref", "--short", "HEAD")
	git(t, folder, "branch", "other")
	for branch, refused := range map[string]bool{checkedOut: true, "other": false, "": false} {
		a, err := gitarchive.In(t.Context(), folder, branch)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Prepare(); (err != nil) != refused || refused && !strings.Contains(err.Error(), "git:benchmark-records") {
			t.Errorf("%q: %v", branch, err)
		}
	}
}

// Two writers keep records at the same time, in one repository. No record is lost.
func TestTwoWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	a := archive(t, repository(t))
	var wait sync.WaitGroup
	const each = 6
	for range 2 {
		wait.Go(func() {
			for range each {
				if _, err := a.Keep(document()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	wantRecords(t, a, 2*each)
}

// Two clones keep records and sync at the same time. Then one of them rewrites the branch, and a
// shallow clone syncs too. No records are lost, and a clone without new records makes no commit.
func TestSync(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	central := t.TempDir()
	git(t, central, "init", "-q", "--bare")
	clone := func(args ...string) gitarchive.Archive {
		folder := filepath.Join(t.TempDir(), "clone")
		git(t, t.TempDir(), append(append([]string{"clone", "-q"}, args...), "file://"+central, folder)...)
		return archive(t, folder)
	}
	first := clone()
	git(t, first.Folder, "commit", "-q", "--allow-empty", "-m", "code")
	git(t, first.Folder, "push", "-q", "origin", "HEAD")
	second := clone()
	var wait sync.WaitGroup
	const each = 4
	for _, a := range []gitarchive.Archive{first, second} {
		wait.Go(func() {
			for range each {
				if _, err := a.Keep(document()); err != nil {
					t.Error(err)
				}
				if err := a.Sync("origin"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	sync := func(a gitarchive.Archive) {
		t.Helper()
		if err := a.Sync("origin"); err != nil {
			t.Error(err)
		}
	}
	sync(first)
	sync(second)
	wantRecords(t, first, 2*each)
	wantRecords(t, second, 2*each)

	head := git(t, central, "rev-parse", gitarchive.DefaultBranch)
	sync(first)
	sync(second)
	if after := git(t, central, "rev-parse", gitarchive.DefaultBranch); after != head {
		t.Errorf("syncing without news moved the branch from %s to %s", head, after)
	}

	// One clone replaces the branch's history by a single commit without the records.
	const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904" // git knows it without an object
	empty := git(t, second.Folder, "commit-tree", "-m", "start anew", emptyTree)
	git(t, second.Folder, "push", "-q", "--force", "origin", empty+":refs/heads/"+gitarchive.DefaultBranch)
	keep(t, first)
	sync(first)
	wantRecords(t, first, 2*each+1)
	sync(second)
	wantRecords(t, second, 2*each+1)

	shallow := clone("--depth", "1", "--no-single-branch")
	wantRecords(t, shallow, 2*each+1)
	keep(t, shallow)
	sync(shallow)
	sync(first)
	wantRecords(t, first, 2*each+2)
	narrow := clone("--depth", "1") // a shallow clone fetches only the branch with the code
	keep(t, narrow)
	sync(narrow)
	sync(first)
	wantRecords(t, narrow, 2*each+3)
	wantRecords(t, first, 2*each+3)
}

func TestSyncUnreachable(t *testing.T) {
	a := archive(t, repository(t))
	keep(t, a)
	if err := a.Sync("origin"); err == nil || !strings.Contains(err.Error(), "can't be had") {
		t.Errorf("no remote repository: %v", err)
	}
	if err := a.Sync("--upload-pack=touch /tmp/x"); err == nil || !strings.Contains(err.Error(), "no remote repository") {
		t.Errorf("a flag for a remote repository: %v", err)
	}
	wantRecords(t, a, 1)
}

// synced returns a clone with one record that it shares with a central repository.
func synced(t *testing.T) (clone gitarchive.Archive, central string) {
	central = t.TempDir()
	git(t, central, "init", "-q", "--bare")
	clone = archive(t, repository(t))
	git(t, clone.Folder, "remote", "add", "origin", central)
	keep(t, clone)
	if err := clone.Sync("origin"); err != nil {
		t.Fatal(err)
	}
	return clone, central
}

// The branch is deleted in the remote repository. The next sync brings the records back; it once said that both sides
// have the same records, since it compared with what it had fetched before.
func TestSyncAfterDeletion(t *testing.T) {
	clone, central := synced(t)
	for _, alsoHere := range []bool{false, true} {
		git(t, central, "branch", "-q", "-D", gitarchive.DefaultBranch)
		if alsoHere {
			git(t, clone.Folder, "branch", "-q", "-D", gitarchive.DefaultBranch)
		}
		if err := clone.Sync("origin"); err != nil {
			t.Error(err)
		}
		wantRecords(t, clone, 1)
		wantRecords(t, archive(t, central), 1)
	}
}

// A remote repository that takes no pushes is asked once. It was once asked for half a minute.
func TestSyncRefused(t *testing.T) {
	clone, central := synced(t)
	asked := filepath.Join(t.TempDir(), "asked")
	hook := "#!/bin/sh\necho >>'" + asked + "'\necho this branch is protected >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(central, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	keep(t, clone)
	if err := clone.Sync("origin"); err == nil || !strings.Contains(err.Error(), "this branch is protected") {
		t.Errorf("refused: %v", err)
	}
	if times, err := os.ReadFile(asked); err != nil || len(times) != 1 {
		t.Errorf("asked %d times: %v", len(times), err)
	}
	wantRecords(t, clone, 2)
}

// One object of three is damaged: the others are read, and the damaged one is reported.
func TestDamagedObject(t *testing.T) {
	a := archive(t, repository(t))
	for range 3 {
		keep(t, a)
	}
	files, err := a.Files()
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	object := files[1].Stamp
	file := filepath.Join(a.Folder, ".git", "objects", object[:2], object[2:])
	os.Chmod(file, 0o644)
	if err := os.WriteFile(file, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, broken := contents(t, a); n != 2 || len(broken) != 1 || !strings.Contains(broken[0], files[1].Name) {
		t.Errorf("%d readable, broken %q", n, broken)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if n, broken := contents(t, a); n != 2 || len(broken) != 1 || !strings.Contains(broken[0], "no such object") {
		t.Errorf("removed: %d readable, broken %q", n, broken)
	}
}

// writerOf is an environment variable with the store of a process that keeps records until it is
// killed.
const writerOf = "CHRONOSCOPE_TEST_WRITER"

func TestMain(m *testing.M) {
	kind, folder, isWriter := strings.Cut(os.Getenv(writerOf), ":")
	if !isWriter {
		os.Exit(m.Run())
	}
	var s record.Store = record.ArchiveIn(folder)
	if kind == "git" {
		s = gitarchive.Archive{Context: context.Background(), Folder: folder, Branch: gitarchive.DefaultBranch, Host: "host"}
	}
	for {
		file, err := s.Keep(document())
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		fmt.Println("kept", file)
	}
}

// A writer is killed at random moments, while another one writes too. Every record that it reported
// as kept can be read afterwards, nothing is damaged, and the next writer can continue.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, kind := range []string{"git", "folder"} {
		t.Run(kind, func(t *testing.T) {
			folder := repository(t)
			var s record.Store = archive(t, folder)
			if kind == "folder" {
				folder = t.TempDir()
				s = record.ArchiveIn(folder)
			}
			said := map[string]bool{}
			for range 6 {
				for _, out := range killedWriters(t, kind+":"+folder) {
					said[out] = true
				}
			}
			keep(t, s)
			files, err := s.Files()
			if err != nil {
				t.Fatal(err)
			}
			there := map[string]bool{}
			for _, f := range files {
				there[filepath.Base(f.Name)] = true
			}
			for name := range said {
				if !there[name] {
					t.Errorf("%s was said to be kept, and is lost", name)
				}
			}
			if n, broken := contents(t, s); n <= len(said) || len(broken) > 0 {
				t.Errorf("%d can be read, %d were said to be kept; broken %q", n, len(said), broken)
			}
			if kind == "git" {
				git(t, folder, "fsck", "--strict")
			}
			t.Logf("%d records kept, %d there", len(said), len(files))
		})
	}
}

// killedWriters starts two writers, kills them at random moments, and returns the files that they
// reported as kept.
func killedWriters(t *testing.T, store string) (said []string) {
	var wait sync.WaitGroup
	var lock sync.Mutex
	for range 2 {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), writerOf+"="+store)
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			time.AfterFunc(time.Duration(100+rand.IntN(600))*time.Millisecond, func() { command.Process.Kill() })
			for lines := bufio.NewScanner(out); lines.Scan(); {
				name, isKept := strings.CutPrefix(lines.Text(), "kept ")
				if !isKept {
					t.Errorf("a writer says %q", lines.Text())
					continue
				}
				lock.Lock()
				said = append(said, filepath.Base(name))
				lock.Unlock()
			}
			command.Wait()
		})
	}
	wait.Wait()
	return said
}
