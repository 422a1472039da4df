package view_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chronoscope/clock/check"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/view"
)

// The report card fits on a terminal of 80 by 24.
func TestCardAnswersFitOnATerminal(t *testing.T) {
	cards, err := filepath.Glob("../record/testdata/*/card.json")
	if err != nil || len(cards) == 0 {
		t.Fatalf("%d cards: %v", len(cards), err)
	}
	for _, file := range cards {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var card record.Card
		if err := json.Unmarshal(data, &card); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := render.Text(&text, view.CardAnswers(card, "chronoscope --all"), render.Style{Width: 80}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
		if len(lines) > 22 {
			t.Errorf("%s: %d lines, 22 are allowed:\n%s", file, len(lines), &text)
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("%s: a line of %d letters, 80 are allowed: %s", file, n, line)
			}
		}
		for _, label := range []string{"measure", "clocks", "noise", "more"} {
			if !strings.Contains(text.String(), "  "+label+" ") {
				t.Errorf("%s: no line says %q:\n%s", file, label, &text)
			}
		}
	}
}

// The report card named no clock that failed a check, only their number.
func TestCardAnswersNameFailedClocks(t *testing.T) {
	card := record.Card{Trust: record.NoTrust()}
	for _, clock := range []string{"a", "b", "c", "d", "fine"} {
		f := check.Finding{Clock: clock, Judgement: stats.NewJudgement()}
		if clock != "fine" {
			f.Lower(stats.Unusable, "it jumps")
		}
		card.Checks = append(card.Checks, f)
	}
	var text bytes.Buffer
	if err := render.Text(&text, view.CardAnswers(card, "all"), render.Style{}); err != nil {
		t.Fatal(err)
	}
	if want := "1 of 5 checks of single clocks passed; failed: a, b, c and 1 more\n"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in %s", want, &text)
	}
}
