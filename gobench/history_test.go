package gobench

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A merge is one step of the history along first parents, and with every parent its commits are steps,
// too. The good end comes first.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...).CombinedOutput()
		if err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	commit := func(subject string) { git("commit", "-q", "--allow-empty", "-m", subject) }
	git("init", "-q", "-b", "trunk")
	commit("first")
	git("tag", "good")
	commit("second")
	git("checkout", "-q", "-b", "side")
	commit("aside")
	git("checkout", "-q", "trunk")
	commit("third")
	git("merge", "-q", "--no-ff", "-m", "merged", "side")
	commit("last")
	subjects := func(good, bad string, everyParent bool) (all []string, err error) {
		history, err := History(t.Context(), dir, good, bad, everyParent)
		for _, c := range history {
			if len(c.Hash) < 40 {
				t.Errorf("%+v is no full name", c)
			}
			all = append(all, c.Subject)
		}
		return all, err
	}
	if got, err := subjects("good", "trunk", false); err != nil || !slices.Equal(got, []string{"first", "second", "third", "merged", "last"}) {
		t.Errorf("along first parents: %v, %v", got, err)
	}
	got, err := subjects("good", "trunk", true)
	if err != nil || len(got) != 6 || slices.Index(got, "aside") > slices.Index(got, "merged") || got[0] != "first" {
		t.Errorf("with every parent: %v, %v", got, err)
	}
	for _, c := range []struct{ good, bad, says string }{
		{"trunk", "good", "is no ancestor of"}, {"good", "good", "are the same commit"}, {"--all", "trunk", "is no revision"}, {"none", "trunk", "is no revision"},
	} {
		if _, err := subjects(c.good, c.bad, false); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s..%s: %v, want %q", c.good, c.bad, err, c.says)
		}
	}
}
