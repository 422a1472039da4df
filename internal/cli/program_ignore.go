package cli

import (
	"slices"
	"strconv"
	"strings"
)

// allFailures is the value of --ignore-failure without a list.
const allFailures = "all"

// ignoredFailures holds the exit statuses with which a command may end.
type ignoredFailures struct {
	any   bool
	codes []int
}

// Set reads a list of exit statuses; or "all", or hyperfine's word for it; or "true" or "false".
func (i *ignoredFailures) Set(text string) error {
	*i = ignoredFailures{any: text == allFailures || text == "all-non-zero" || text == "true"}
	if i.any || text == "false" {
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		code, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || code < 1 || code > 255 {
			return usagef("--ignore-failure: %q is no exit status of a failure: give some of 1 to 255, as in --ignore-failure=1,2, or --ignore-failure alone for all", word)
		}
		i.codes = append(i.codes, code)
	}
	return nil
}

func (i *ignoredFailures) String() string {
	if i.any {
		return allFailures
	}
	var words []string
	for _, code := range i.codes {
		words = append(words, strconv.Itoa(code))
	}
	return strings.Join(words, ",")
}

// Type returns the word for the value in the list of flags.
func (i *ignoredFailures) Type() string { return "list" }

// has reports whether a command may end with that status.
func (i *ignoredFailures) has(code int) bool { return i.any || slices.Contains(i.codes, code) }
