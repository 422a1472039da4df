package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"chronoscope/record"
	"chronoscope/render"
)

// Ctrl-C also ends the reader of standard output, as in "| tee log". The command once ended with 1 then, and said nothing.
func TestInterruptedWithoutAReader(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		failed error
		status int
		says   string
	}{
		"nobody reads": {syscall.EPIPE, 130, "interrupted"},
		"a full disk":  {syscall.ENOSPC, 1, syscall.ENOSPC.Error()},
		"all is well":  {nil, 130, "interrupted"},
	} {
		here := call{settings: settings{format: render.TextFormat}, streams: Streams{&bytes.Buffer{}, io.Discard}}
		text := func(io.Writer, render.Style) error { return c.failed }
		err := here.show(ctx, found{document: record.Doctor{}, text: text}, context.Canceled)
		if said := worthSaying(err); ExitStatus(err) != c.status || said == nil || !strings.Contains(said.Error(), c.says) {
			t.Errorf("%s: status %d, %v", name, ExitStatus(err), err)
		}
		if c.failed == nil && !errors.Is(err, errInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record without the commit says why git does not tell it. It once lacked the commit without a word.
func TestCommitThatGitRefuses(t *testing.T) {
	folder := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.repositoryFormatVersion", "99"}} {
		if out, err := exec.Command("git", append([]string{"-C", folder}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	here := call{settings: settings{format: render.JSONFormat}, header: &record.Header{}}
	here.measuresCodeIn(t.Context(), folder)
	if c := here.header.Caveats; here.header.Source != nil || len(c) != 1 || !strings.HasPrefix(c[0], "the commit is not known: git says ") {
		t.Errorf("%+v, caveats %q", here.header.Source, c)
	}
}
