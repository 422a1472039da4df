package exporter

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// MostNames is how many disturbers can be named at most.
const MostNames = 100

// culprit is who or what disturbs.
type culprit struct{ kind, name string }

// others stands for all that are not named.
var others = culprit{"others", ""}

// names adds up what disturbers took. At most so many are named, since each name is a time series of its
// own; the time of the others is summed. A name comes in, in place of the least, once it lately took twice
// as much as that. Each second is counted for one name alone, at the time that it was seen.
type names struct {
	most int
	took map[culprit]float64 // of those that are named, and of others
	late map[culprit]float64 // what each took lately: the weight of a turn halves in halfLife turns
}

const (
	halfLife = 32
	// candidates are remembered for each name that may be shown.
	candidates = 8
)

func newNames(most int) names {
	return names{most: most, took: map[culprit]float64{}, late: map[culprit]float64{}}
}

// add counts what a turn found. It changes n's maps.
func (n names) add(turn []Disturber) {
	for c := range n.late {
		n.late[c] *= 1 - 1.0/halfLife
	}
	for _, d := range turn {
		c := culprit{label(d.Kind), label(d.Name)}
		n.late[c] += d.Seconds
		n.admit(c)
		if _, named := n.took[c]; !named {
			c = others
		}
		n.took[c] += d.Seconds
	}
	n.forget()
}

// admit names a disturber, if there is room or it took much more than the least of those that are named.
func (n names) admit(c culprit) {
	if _, named := n.took[c]; named || n.most == 0 {
		return
	}
	var named []culprit
	for other := range n.took {
		if other != others {
			named = append(named, other)
		}
	}
	if len(named) >= n.most {
		least := slices.MinFunc(named, n.byLate)
		if n.late[c] < 2*n.late[least] {
			return
		}
		delete(n.took, least)
	}
	n.took[c] = 0
}

func (n names) byLate(a, b culprit) int { return cmp.Compare(n.late[a], n.late[b]) }

// forget drops the candidates that took least.
func (n names) forget() {
	excess := len(n.late) - candidates*max(1, n.most)
	if excess <= 0 {
		return
	}
	for _, c := range slices.SortedFunc(maps.Keys(n.late), n.byLate)[:excess] {
		if _, named := n.took[c]; !named {
			delete(n.late, c)
		}
	}
}

// longestLabel is as long as the kernel lets a thread's name be, four times.
const longestLabel = 64

// label is a name from outside as a label's value: valid, short, and without what steers a terminal.
func label(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > longestLabel {
		text = strings.ToValidUTF8(text[:longestLabel], "")
	}
	return text
}
