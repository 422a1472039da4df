package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"chronoscope/internal/gitcommand"
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

// SourceIn returns the commit that is checked out in the git repository around a folder; nil if there is no repository, no
// commit or no git. The error says why git does not tell the commit, or whether the code differs from it, with the
// remedy that git names. In the latter case the code is said to differ.
//
// Code differs if the content of a tracked file does, or if there is a file that go build would read and git does not know.
// Ignored files, and files that are embedded, don't count. Git's index is neither written nor locked.
func SourceIn(ctx context.Context, folder string) (*Source, error) {
	most, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	git := func(args ...string) (string, error) {
		command := gitcommand.New(most, folder, args...)
		command.Env = append(command.Env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
		command.WaitDelay = time.Second
		var said bytes.Buffer
		command.Stderr = &said
		out, err := command.Output()
		if most.Err() != nil {
			err = errors.New("git takes more than 10 s")
		} else if _, refused := errors.AsType[*exec.ExitError](err); refused {
			err = fmt.Errorf("git says %q", strings.Join(strings.Fields(said.String()), " "))
		}
		return string(bytes.TrimSpace(out)), err
	}
	line, err := git("log", "-1", "--no-show-signature", "--format=%H%x00%cI%x00%s", "HEAD")
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, exec.ErrNotFound) || strings.Contains(err.Error(), "not a git repository (or any") || strings.Contains(err.Error(), "unknown revision") {
			return nil, nil
		}
		return nil, fmt.Errorf("the commit is not known: %w", err)
	}
	parts := strings.SplitN(line, "\x00", 3)
	if len(parts) != 3 {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, parts[1])
	if err != nil {
		return nil, nil
	}
	s := &Source{Commit: parts[0], Time: at.UTC(), Subject: shortened(parts[2])}
	changed, err := git("status", "--porcelain", "--no-renames", "--untracked-files=no")
	if err == nil && changed == "" {
		changed, err = git(append([]string{"ls-files", "--others", "--exclude-standard", "--exclude=.*", "--exclude=_*", "--"}, goBuildReads...)...)
	}
	s.Modified = err != nil || changed != ""
	if err != nil && ctx.Err() == nil {
		return s, fmt.Errorf("whether the code differs from the commit is not known: %w", err)
	}
	return s, nil
}

// goBuildReads are patterns of the files of a repository that go build reads (go help packages, and the fields of go list).
var goBuildReads = patterns(`go.mod go.sum go.work go.work.sum *.go *.s *.S *.sx *.c *.cc *.cpp *.cxx *.m *.h *.hh *.hpp *.hxx
	*.f *.F *.for *.f90 *.swig *.swigcxx *.syso`)

func patterns(names string) (all []string) {
	for _, name := range strings.Fields(names) {
		all = append(all, ":(top,glob)**/"+name)
	}
	return all
}

// shortened cuts a commit's subject line to longestSubject characters.
func shortened(subject string) string {
	runes := []rune(strings.ToValidUTF8(subject, "�"))
	return string(runes[:min(len(runes), longestSubject)])
}
