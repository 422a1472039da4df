package gobench

import (
	"context"
	"fmt"
	"strings"
)

// Commit is a commit of a git history.
type Commit struct {
	Hash    string `json:"hash"`
	Subject string `json:"subject"` // the first line of its message
}

// History returns the commits from the good one to the bad one, oldest first. It follows first parents; with
// everyParent it includes commits of merged branches, each after its parents. The good commit has to be an
// ancestor of the bad one.
func History(ctx context.Context, dir, good, bad string, everyParent bool) ([]Commit, error) {
	var ends [2]string
	for i, revision := range []string{good, bad} {
		commit, err := resolve(ctx, dir, revision)
		if err != nil {
			return nil, err
		}
		ends[i] = commit
	}
	if _, err := git(ctx, dir, "merge-base", "--is-ancestor", ends[0], ends[1]); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s is no ancestor of %s, so that no line of commits leads from one to the other: give one that is, such as that of git merge-base %[1]s %[2]s", good, bad)
	}
	first, err := git(ctx, dir, "log", "-1", "--no-show-signature", "--format=%H%x00%s", ends[0], "--")
	if err != nil {
		return nil, err
	}
	order := []string{"log", "--no-show-signature", "--reverse", "--topo-order", "--format=%H%x00%s"}
	if !everyParent {
		order = append(order, "--first-parent")
	}
	rest, err := git(ctx, dir, append(order, ends[0]+".."+ends[1], "--")...)
	if err != nil {
		return nil, err
	}
	var all []Commit
	for line := range strings.Lines(first + rest) {
		hash, subject, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\x00")
		all = append(all, Commit{hash, subject})
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("%s and %s are the same commit: give a bad one after the good one", good, bad)
	}
	return all, nil
}
