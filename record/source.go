package record

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"time"
)

// Source is the version of the code that was measured.
type Source struct {
	Commit  string    `json:"commit"`
	Time    time.Time `json:"time"`    // of the commit
	Subject string    `json:"subject"` // the first line of its message
	// Modified says that the code differed from the commit.
	Modified bool `json:"modified"`
}

// longestSubject is the number of characters of a commit's subject line that are kept.
const longestSubject = 200

// SourceIn returns the commit that is checked out in the git repository around a folder; nil if
// there is no repository, or no git.
func SourceIn(ctx context.Context, folder string) *Source {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	git := func(args ...string) (string, error) {
		command := exec.CommandContext(ctx, "git", args...)
		command.Dir = folder
		out, err := command.Output()
		return string(bytes.TrimSpace(out)), err
	}
	line, err := git("log", "-1", "--no-show-signature", "--format=%H%x00%cI%x00%s", "HEAD")
	parts := strings.SplitN(line, "\x00", 3)
	if err != nil || len(parts) != 3 {
		return nil
	}
	at, err := time.Parse(time.RFC3339, parts[1])
	if err != nil {
		return nil
	}
	_, same := git("diff-index", "--quiet", "HEAD", "--")
	return &Source{Commit: parts[0], Time: at.UTC(), Subject: shortened(parts[2]), Modified: same != nil}
}

// shortened cuts a commit's subject line to longestSubject characters.
func shortened(subject string) string {
	runes := []rune(strings.ToValidUTF8(subject, "�"))
	return string(runes[:min(len(runes), longestSubject)])
}
