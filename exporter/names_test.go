package exporter

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// However many disturbers come, at most the given number is named, what they all took is what was seen, and memory
// is bounded.
func TestNamesAreBoundedAndSumUp(t *testing.T) {
	n := newNames(5)
	seen := 0.0
	for turn := range 2000 {
		var all []Disturber
		for i := range 20 {
			all = append(all, Disturber{"thread", fmt.Sprint("passing-", turn, "-", i), 0.001})
			seen += 0.001
		}
		all = append(all, Disturber{"thread", "backup", 0.01})
		seen += 0.01
		n.add(all)
	}
	sum := 0.0
	for _, seconds := range n.took {
		sum += seconds
	}
	// names that gave way to others took theirs with them
	if sum > seen*(1+1e-9) || n.took[culprit{"thread", "backup"}] < 0.99*2000*0.01 {
		t.Errorf("%v s of %v s seen; backup %v s", sum, seen, n.took[culprit{"thread", "backup"}])
	}
	if len(n.took) > 6 || len(n.late) > 5*candidates+21 {
		t.Errorf("%d names and %d candidates", len(n.took), len(n.late))
	}
}

// A disturber that comes late and takes much is named in place of one that is gone.
func TestALateDisturberIsNamed(t *testing.T) {
	n := newNames(2)
	for range 50 {
		n.add([]Disturber{{"thread", "a", 0.01}, {"thread", "b", 0.01}})
	}
	for range 100 {
		n.add([]Disturber{{"thread", "a", 0.01}, {"thread", "late", 0.01}})
	}
	if _, named := n.took[culprit{"thread", "late"}]; !named || len(n.took) > 3 {
		t.Errorf("%v", n.took)
	}
}

func TestNoNames(t *testing.T) {
	n := newNames(0)
	n.add([]Disturber{{"thread", "a", 1}, {"interrupt", "b", 2}})
	if len(n.took) != 1 || math.Abs(n.took[others]-3) > 1e-9 {
		t.Errorf("%v", n.took)
	}
}

func FuzzLabel(f *testing.F) {
	for _, text := range []string{"", "kworker/0:1", "\xff\xfe", "a\x1b[31mb\nc", strings.Repeat("é", 99), "{x=\"y\"}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := label(text)
		if !utf8.ValidString(got) || len(got) > longestLabel || strings.ContainsAny(got, "\n\x1b\x00") {
			t.Errorf("%q gives %q", text, got)
		}
	})
}
