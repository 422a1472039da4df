package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Names that begin and end alike differ in the middle, which an earlier version cut off: all of them had one label.
func TestLabelsShowWhereNamesDiffer(t *testing.T) {
	const end = " --input /srv/data/measurements/2026/november.csv"
	for _, c := range []struct{ names, want []string }{
		{[]string{"sleep 0.1", "true", "sleep 0.1"}, []string{"sleep 0.1", "true", "sleep 0.1"}},
		{[]string{"./sort --threads 1" + end, "./sort --threads 16" + end},
			[]string{"./sort --threads 1 …/2026/november.csv", "./sort --threads 16…/2026/november.csv"}},
		{[]string{"/home/me/projects/sort/build/sort-old" + end, "/home/me/projects/sort/build/sort-new" + end, "other"},
			[]string{"/home/me/p…/build/sort-old --input /s…", "/home/me/p…/build/sort-new --input /s…", "other"}},
	} {
		if diff := cmp.Diff(c.want, Labels(c.names, 38)); diff != "" {
			t.Error(diff)
		}
	}
}

// Different names have different labels, whatever their parts have in common, and labels are short.
func TestLabelsDiffer(t *testing.T) {
	same := strings.Repeat("x", 30)
	names := []string{same + same, same + "y" + same, same + same + same, same + "x" + same, same + "y" + same + "y" + same, same + "y" + same + "z" + same, same + "é" + same}
	of := map[string]string{}
	for i, label := range Labels(names, 38) {
		if before, taken := of[label]; taken && before != names[i] {
			t.Errorf("%q is the label of %q and of %q", label, before, names[i])
		}
		of[label] = names[i]
		if n := utf8.RuneCountInString(label); n > 38+len(" (9)") {
			t.Errorf("%q has %d letters", label, n)
		}
	}
}
