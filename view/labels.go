package view

import (
	"fmt"
	"slices"
	"strings"
)

// Labels shortens names that are shown together to most letters each. Names that [Shortened] would make equal show
// where they differ instead, without most of their common beginning and end.
func Labels(names []string, most int) []string {
	groups := map[string][]string{} // the different names that Shortened makes equal
	for _, name := range distinct(names, func(name string) string { return name }) {
		groups[Shortened(name, most)] = append(groups[Shortened(name, most)], name)
	}
	labels := map[string]string{}
	for label, group := range groups {
		if labels[group[0]] = label; len(group) == 1 {
			continue
		}
		labelApart(labels, group, most)
	}
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = labels[name]
	}
	return all
}

const (
	mostHead    = 10 // the letters of a common beginning that a label keeps
	mostContext = 12 // the letters before the difference that a label keeps, from the start of a word on
)

// labelApart gives names of a common beginning and end labels that differ, if need be by a number.
func labelApart(labels map[string]string, group []string, most int) {
	var letters, backwards [][]rune
	for _, name := range group {
		letters = append(letters, []rune(name))
		backwards = append(backwards, slices.Clone(letters[len(letters)-1]))
		slices.Reverse(backwards[len(backwards)-1])
	}
	start, end := sameStart(letters), sameStart(backwards)
	from := start
	for from > max(start-mostContext, 0) && letters[0][from-1] != ' ' {
		from--
	}
	head := string(letters[0][:from])
	if from > mostHead {
		head = string(letters[0][:mostHead]) + "…"
	}
	number := map[string]int{}
	for i, name := range group {
		rest, room := letters[i][from:], most-len([]rune(head))
		differing := len(rest) - min(end, len(letters[i])-start)
		label := head + Shortened(string(rest), room)
		if len(rest) > room && end > 0 { // their end says nothing
			label = head + Shortened(string(rest[:max(differing, room-1)]), room-1) + "…"
		}
		if number[label]++; number[label] > 1 {
			label = fmt.Sprintf("%s (%d)", strings.TrimRight(label, " "), number[label])
		}
		labels[name] = label
	}
}

// sameStart returns how many letters all of some texts begin with.
func sameStart(all [][]rune) (n int) {
	for {
		for _, t := range all {
			if n == len(t) || t[n] != all[0][n] {
				return n
			}
		}
		n++
	}
}
