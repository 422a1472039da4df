package exporter

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// MostNames is the largest number of disturbers that can have a name in the metrics.
const MostNames = 100

// culprit identifies a disturber.
type culprit struct{ kind, name string }

// others stands for all disturbers without a name in the metrics.
var others = culprit{"others", ""}

// names adds up the time that disturbers took. At most `most` of them have a name, since each name is a time
// series of its own; the time of the others is summed. A new name replaces the one with the least recent time
// once its own recent time is twice as long. Each second counts for one name only: the disturber's
// name at the moment when it was seen.
type names struct {
	most int
	took map[culprit]float64 // seconds, of those with a name, and of others
	late map[culprit]float64 // recent seconds, in about meanLife turns
}

const (
	// meanLife is how many turns count as recent: the weight of a turn falls by a factor of e in that time.
	meanLife = 32
	// candidates is how many disturbers are remembered for each name that may be shown.
	candidates = 8
)

func newNames(most int) names {
	return names{most: most, took: map[culprit]float64{}, late: map[culprit]float64{}}
}

// add counts the disturbers of a turn. It changes n's maps.
func (n names) add(turn []Disturber) {
	for c := range n.late {
		n.late[c] *= 1 - 1.0/meanLife
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

// admit gives a disturber a name if there is room, or if it took twice as much time recently as the named
// disturber that took least.
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

// forget drops the candidates that took the least time recently.
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

// longestLabel leaves room for a tier or a version, and bounds what a name from outside can take.
const longestLabel = 256

// label makes a label value of a name from outside: valid UTF-8, short, and without characters that
// control a terminal.
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
