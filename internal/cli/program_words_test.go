package cli

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// How the shell itself splits a line is what is expected.
func TestSplitWordsAsTheShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("no shell to compare with: %v", err)
	}
	for _, line := range []string{
		`sleep 0.1`, `  a   b  `, `grep "\bfoo\n" 'it''s'`, `a\ b c`, `"a b"'c d'e`, `a\\b "c\\d\"" 'e\f'`, `echo '' "" x`, `echo "\$HOME \"q\""`, `a "b
c"`, `echo x={n} {a,b}`, `echo # the rest is said to nobody`, `[ 1 = 1 ]`, `'*' "?" \*`, `dd if=/dev/zero of=x`, "a\\\nb",
	} {
		printed, err := exec.Command(sh, "-c", `show() { for word in "$@"; do printf '%s\0' "$word"; done; }; show `+line).Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		want := strings.Split(strings.TrimSuffix(string(printed), "\x00"), "\x00")
		if got, err := splitWords(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; the shell says %q", line, got, err, want)
		}
	}
}

func TestSplitWordsRefuses(t *testing.T) {
	for line, says := range map[string]string{
		"":              "no command",
		"  # nothing":   "no command",
		"a | b":         "--shell",
		"a; b":          "--shell",
		"a\nb":          "--shell",
		"a && b":        "--shell",
		"a &":           "--shell",
		"! a":           "--shell",
		"(a)":           "--shell",
		"a > b":         "--program-output",
		"N=1 a":         "--env",
		"a $HOME":       "starts with $",
		`a "b${x}"`:     "starts with $",
		"a `b`":         "starts with $",
		"a $((1+1))":    "starts with $",
		"a *.go":        "pattern",
		"a x?":          "pattern",
		"a [ab]":        "pattern",
		"~/a":           "home directory",
		"a 'b":          "can't be split",
		`a "b`:          "can't be split",
		"if true":       "can't be split",
		"while a; do b": "can't be split",
	} {
		words, err := splitWords(line)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v; want an error that says %q", line, words, err, says)
		}
	}
}

// What is joined splits into the same words.
func FuzzJoinWords(f *testing.F) {
	f.Add("sleep", "0.1")
	f.Add("it's", `a "b" $c`)
	f.Add("*", "~")
	f.Add("", "#x")
	f.Fuzz(func(t *testing.T, a, b string) {
		words := []string{a, b}
		line := joinWords(words)
		for _, r := range a + b {
			if r < ' ' || r > '~' {
				return // shown, and split by nobody
			}
		}
		if got, err := splitWords(line); err != nil || !slices.Equal(got, words) {
			t.Errorf("%q is joined to %s, which splits into %q, %v", words, line, got, err)
		}
	})
}
