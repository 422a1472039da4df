package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chronoscope/gobench"
	"chronoscope/record"
)

// moduleWith makes a module in which the tests of these packages do not compile.
func moduleWith(t *testing.T, broken ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	files := map[string]string{"go.mod": "module example.com/m\n"}
	for _, name := range broken {
		files[name+"/x_test.go"] = "package " + name + "\n\nvar x = missing\n"
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// A package that does not compile was reported two times for a working tree that is compared with itself, without the revision in
// which it does not, and also if the working tree has no such package.
func TestBrokenPackages(t *testing.T) {
	for name, value := range map[string]string{"GOWORK": "off", "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": ""} {
		t.Setenv(name, value)
	}
	now, then := moduleWith(t, "both"), moduleWith(t, "both", "gone")
	for revision, want := range map[string][]string{nullRevision: {""}, "HEAD": {"", "HEAD"}} {
		folder := map[string]string{nullRevision: now, "HEAD": then}[revision]
		c := &call{header: &record.Header{}, bar: &progress{to: io.Discard}}
		e := benchExperiment{flags: &benchFlags{bench: ".", procs: []int{0}}, call: c, patterns: []string{"./..."}}
		e.find(t.Context(), gobench.Processes{}, now, filepath.Join(t.TempDir(), "now"), "")
		e.find(t.Context(), gobench.Processes{}, folder, filepath.Join(t.TempDir(), "then"), revision)
		var got []string
		for _, m := range e.missing {
			if got = append(got, m.Revision); m.Package != "example.com/m/both" {
				t.Errorf("%s: %s of %q could not be measured", revision, m.Package, m.Revision)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: not measured in %q, want %q", revision, got, want)
		}
		said := judgedBench(record.Bench{Missing: e.missing}, nil).failed.Error()
		for _, revision := range want {
			where := ""
			if revision != "" {
				where = " in " + revision
			}
			if !strings.Contains(said, "a package could not be measured"+where+": compiling the tests of example.com/m/both: ") {
				t.Errorf("of %q it says: %s", revision, said)
			}
		}
		if isNamed := strings.Contains(strings.Join(c.header.Caveats, "\n"), "in HEAD: compiling the tests of example.com/m/gone: "); isNamed != (revision == "HEAD") {
			t.Errorf("%s: %q", revision, c.header.Caveats)
		}
	}
}

// Without a git command in PATH, the revision was called none of the checkout.
func TestOtherRevisionWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	e := benchExperiment{flags: &benchFlags{directory: ".", against: "HEAD"}}
	if _, err := e.checkOut(t.Context()); err == nil || !strings.Contains(err.Error(), "install git") || strings.Contains(err.Error(), "revision") {
		t.Errorf("%v", err)
	}
}
