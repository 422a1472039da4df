package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chronoscope/internal/load"
)

func TestMain(m *testing.M) {
	load.Serve()
	os.Exit(m.Run())
}

// Both have percentiles, whatever they are.
func TestBesideCyclictest(t *testing.T) {
	if _, err := exec.LookPath("cyclictest"); err != nil {
		t.Skip("no cyclictest: install the Debian package rt-tests")
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"-rounds", "2", "-wakes", "20", "-load", "2"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chronoscope, 40 wake-ups: p50 ", "cyclictest, 40 wake-ups: p50 ", "cyclictest, again, 40 wake-ups: p50 ", "\np99 of cyclictest itself, ", "\np50 ", "\np99 ", "\nworst of a round, median "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// Rounds that are alike agree, a hundredfold difference does not, and one stray round is chance.
func TestFiguresOfBoth(t *testing.T) {
	of := func(ours, theirs float64) round {
		return round{[]float64{ours, ours + 10}, []float64{theirs, theirs + 10}, []float64{ours, ours + 10}}
	}
	for want, all := range map[string][]round{
		": agree":            {of(1e4, 1.1e4), of(1.1e4, 1e4), of(1e4, 1e4)},
		": differ":           {of(1e6, 1e4), of(1e6, 1e4), of(1e6, 1e4)},
		": differ by chance": {of(1e6, 1e4), of(1e4, 1e6), of(1e4, 1.2e6)},
	} {
		var out strings.Builder
		print(&out, all)
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "worst of a round") && !strings.HasSuffix(line, want+"\n") {
				t.Errorf("%q, want%s", line, want)
			}
		}
	}
}

// If a round fails, the rounds before it are printed.
func TestFailedRound(t *testing.T) {
	folder := t.TempDir()
	script := "#!/bin/sh\necho x >> " + folder + "/turns\n[ $(wc -l < " + folder + "/turns) -le 2 ] && for i in 1 2 3 4; do echo 0: $i: 5$i; done\n"
	if err := os.WriteFile(filepath.Join(folder, "cyclictest"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	var out strings.Builder
	if err := run(t.Context(), []string{"-rounds", "2", "-wakes", "4"}, &out); err == nil || !strings.Contains(out.String(), "cyclictest, 4 wake-ups: worst ") {
		t.Errorf("%v:\n%s", err, &out)
	}
}

func TestWrongUse(t *testing.T) {
	if err := run(t.Context(), []string{"-rounds", "0"}, &strings.Builder{}); err == nil {
		t.Error("no round was taken")
	}
}
