package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is the part of a workflow that the test runs.
type workflow struct {
	Name string
	Jobs map[string]struct {
		Env   map[string]string
		Steps []struct{ Name, Run string }
	}
}

// workflowsIn returns the workflows of GitHub Actions in a page, as text and parsed.
func workflowsIn(t *testing.T, page string) (texts []string, parsed []workflow) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```\n")
		var w workflow
		if err := yaml.Unmarshal([]byte(block), &w); err != nil {
			t.Errorf("%v:\n%s", err, block)
		}
		if len(w.Jobs) > 0 {
			texts, parsed = append(texts, block), append(parsed, w)
		}
	}
	return texts, parsed
}

// The workflows of docs/ci.md are valid for GitHub Actions.
func TestWorkflowsAreSound(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	texts, _ := workflowsIn(t, "../../docs/ci.md")
	if len(texts) != 2 {
		t.Fatalf("%d workflows", len(texts))
	}
	folder := t.TempDir()
	lint := func(text string) (string, error) {
		file := filepath.Join(folder, "workflow.yml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("go", "tool", "actionlint", "-shellcheck=", "-pyflakes=", file).CombinedOutput()
		return string(out), err
	}
	for _, text := range texts {
		if out, err := lint(text); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if out, err := lint(strings.Replace(texts[0], "runs-on:", "run-on:", 1)); err == nil || !strings.Contains(out, "run-on") {
		t.Errorf("a misspelt key passes: %v\n%s", err, out)
	}
}

// The steps of the first workflow run unchanged in a clone of a module whose new revision allocates
// once more: the gate fails, and the summary says why.
func TestStepsOfTheWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", source, "rev-parse", "HEAD").CombinedOutput(); err != nil {
		t.Skipf("this is no checkout of git: %s", out)
	}
	origin, clone, runner := t.TempDir(), filepath.Join(t.TempDir(), "clone"), t.TempDir()
	git := func(folder string, args ...string) {
		t.Helper()
		args = append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(folder, name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const benchmark = "package work\n\nimport \"testing\"\n\nvar sink []*[64]byte\n\nfunc BenchmarkAllocates(b *testing.B) {\n\tfor b.Loop() {\n\t\tsink = append(sink[:0], new([64]byte))\n\t}\n}\n"
	git(origin, "init", "-q")
	write(origin, "go.mod", "module example.com/work\n\ngo 1.24\n")
	write(origin, "work_test.go", benchmark)
	git(origin, "add", ".")
	git(origin, "commit", "-q", "-m", "first")
	git(origin, "clone", "-q", origin, clone)
	write(clone, "work_test.go", strings.Replace(benchmark, "new([64]byte))", "new([64]byte), new([64]byte))", 1))
	git(clone, "commit", "-q", "-a", "-m", "twice as much")

	_, parsed := workflowsIn(t, "../../docs/ci.md")
	job := parsed[0].Jobs["gate"]
	env := append(os.Environ(), "RUNNER_TEMP="+runner, "GITHUB_STEP_SUMMARY="+filepath.Join(runner, "summary.md"), "GITHUB_ACTIONS=true", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	for name, value := range job.Env {
		switch name { // values that a user fills in, or that depend on the pull request
		case "CHRONOSCOPE":
			value = source
		case "BASE":
			value = "origin/main"
		case "MAX_TIME":
			value = "10s"
		}
		env = append(env, name+"="+value)
	}
	ran := 0
	for _, step := range job.Steps {
		if step.Run == "" {
			continue
		}
		ran++
		c := exec.Command("bash", "-e", "-c", step.Run)
		c.Dir, c.Env = clone, env
		out, err := c.CombinedOutput()
		if step.Name != "Compare with the base" {
			if err != nil {
				t.Fatalf("%s: %v\n%s", step.Name, err, out)
			}
			continue
		}
		if c.ProcessState.ExitCode() == 0 && strings.Contains(string(out), "comparisons pass undecided") {
			t.Skipf("this machine has no time for its pairs:\n%s", out)
		}
		if c.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "::error file=work_test.go,line=7,") {
			t.Errorf("%s: status %d, want 3\n%s", step.Name, c.ProcessState.ExitCode(), out)
		}
	}
	if ran != 2 {
		t.Errorf("%d steps ran", ran)
	}
	for file, want := range map[string]string{
		filepath.Join(runner, "summary.md"):    "| Allocates | allocs/op | +100 % |",
		filepath.Join(clone, "benchmarks.md"):  "<!-- chronoscope bench -->",
		filepath.Join(clone, "benchmarks.xml"): "<failure",
	} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v\n%s", file, want, err, text)
		}
	}
}
