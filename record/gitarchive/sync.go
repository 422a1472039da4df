package gitarchive

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"time"
)

// Sync merges the branch with that of a remote repository, so that both have all records. It pushes
// without force: if another clone pushed in the meantime, it merges again. It adds the records that
// one side lacks, even if the history of that side was rewritten or its branch deleted.
func (a Archive) Sync(remote string) error {
	if strings.HasPrefix(remote, "-") {
		return fmt.Errorf("%q is no remote repository", remote)
	}
	var err error // of the last push
	before := ""
	for try := range tries {
		there, failed := a.fetch(remote)
		if failed != nil {
			return failed
		}
		if err != nil && there == before && !strings.Contains(err.Error(), "cannot lock") {
			break // the cause is not another writer
		}
		before = there
		if failed := a.merge(a.tracking(remote)); failed != nil {
			return failed
		}
		if a.commit(a.ref()) == there {
			return nil
		}
		if _, err = a.git("push", "--quiet", "--no-verify", remote, a.ref()+":"+a.ref()); err == nil || a.Context.Err() != nil {
			break
		}
		time.Sleep(time.Duration(rand.IntN(50*(min(try, 20)+1))) * time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("records can't be pushed to %s: %w; they are kept here, and a later sync pushes them", remote, err)
	}
	_, err = a.fetch(remote)
	return err
}

// tracking returns the name of the reference for the branch of the remote repository.
func (a Archive) tracking(remote string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, remote)
	return "refs/remotes/" + strings.Trim(name, "-") + "/" + a.Branch
}

// fetch fetches the branch of the remote repository, and returns its commit; empty if the remote repository has no such
// branch. What an earlier fetch brought stays.
func (a Archive) fetch(remote string) (commit string, err error) {
	there, err := a.git("ls-remote", remote, a.ref())
	if err != nil {
		return "", fmt.Errorf("records of %s can't be had: %w", remote, err)
	}
	if there == "" {
		return "", nil
	}
	if _, err := a.git("fetch", "--quiet", "--no-tags", remote, "+"+a.ref()+":"+a.tracking(remote)); err != nil {
		return "", fmt.Errorf("records of %s can't be fetched: %w", remote, err)
	}
	return a.commit(a.tracking(remote)), nil
}

// merge adds the files of another branch to this one.
func (a Archive) merge(other string) error {
	theirs := a.commit(other)
	ours := a.commit(a.ref())
	if theirs == "" || ours != "" && a.contains(ours, theirs) {
		return nil
	}
	if ours == "" || a.contains(theirs, ours) {
		before := ours
		if before == "" {
			before = strings.Repeat("0", len(theirs))
		}
		if _, err := a.git("update-ref", a.ref(), theirs, before); err == nil {
			return nil // otherwise another writer changed the branch, and both are merged
		}
	}
	return a.change(func() (string, []string, error) {
		ours := a.commit(a.ref())
		entries, err := a.missing(ours, theirs)
		if err != nil {
			return "", nil, err
		}
		tree, err := a.treeWith(ours, entries)
		if err != nil {
			return "", nil, err
		}
		return tree, []string{ours, theirs}, nil
	}, "Merge records")
}

// contains reports whether the history of a commit contains another commit.
func (a Archive) contains(commit, other string) bool {
	_, err := a.git("merge-base", "--is-ancestor", other, commit)
	return err == nil
}

// missing returns the entries of the commit theirs that ours lacks. If both have different files of
// the same name, theirs is added under a name that depends on its content.
func (a Archive) missing(ours, theirs string) (string, error) {
	has := map[string]string{} // attributes by name
	known, err := a.entries(ours)
	if err != nil {
		return "", err
	}
	for _, e := range known {
		has[e.name] = e.attributes
	}
	others, err := a.entries(theirs)
	if err != nil {
		return "", err
	}
	var entries strings.Builder
	for _, e := range others {
		name := e.name
		if has[name] == e.attributes || strings.ContainsAny(name, "\n\"") {
			continue
		}
		if has[name] != "" {
			ending := path.Ext(name)
			name = strings.TrimSuffix(name, ending) + "-" + e.attributes[len(e.attributes)-12:] + ending
		}
		fmt.Fprintf(&entries, "%s\t%s\n", e.attributes, name)
	}
	return entries.String(), nil
}
