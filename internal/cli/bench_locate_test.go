package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"chronoscope/gobench"
)

// Systems for CI take a file's path from the top of the repository. From a module in a subfolder they once got one from there,
// which named no file, or another one, and from a folder next to the package none. A folder's name may hold a pattern.
func TestLocatedInTheRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("it asks git")
	}
	top := t.TempDir()
	repository := filepath.Join(top, "mono [ci]")
	module := filepath.Join(repository, "servicés", "m")
	for _, folder := range []string{filepath.Join(module, "testdata"), filepath.Join(repository, "other"), filepath.Join(top, "second")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(module, "m_test.go"), []byte("package m\n\nfunc BenchmarkX() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	located := func(from string) gobench.Benchmark {
		t.Chdir(from)
		all := []gobench.Benchmark{{Name: "BenchmarkX/a", Dir: module}}
		locate(t.Context(), all)
		if all[0].Line != 3 && all[0].Source() != "" {
			t.Errorf("from %s: line %d", from, all[0].Line)
		}
		return all[0]
	}
	if b := located(module); b.File != "m_test.go" || b.Source() != "m_test.go" {
		t.Errorf("without a repository: %q, %q", b.File, b.Source())
	}
	for _, folder := range []string{repository, filepath.Join(top, "second")} {
		if out, err := exec.Command("git", "init", "-q", folder).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for from, file := range map[string]string{
		repository:                         "servicés/m/m_test.go",
		module:                             "m_test.go",
		filepath.Join(module, "testdata"):  "",
		filepath.Join(repository, "other"): "",
		top:                                "mono [ci]/servicés/m/m_test.go",
		filepath.Join(top, "second"):       "",
	} {
		if b := located(from); b.File != file || b.Source() != "servicés/m/m_test.go" {
			t.Errorf("from %s: %q, and in the repository %q", from, b.File, b.Source())
		}
	}
}
