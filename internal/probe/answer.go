package probe

import (
	"fmt"
	"strings"
	"unicode"
)

// mostValues is the largest number of values, or pairs of values, for which one command may ask.
const mostValues = 100_000

// parseAnswer reads an answer of the given number of words, each with perWord values separated by commas,
// into one list.
func parseAnswer(answer string, words, perWord int) ([]value, error) {
	fields := strings.Fields(answer)
	if len(fields) != words {
		return nil, fmt.Errorf("it has %d values instead of %d", len(fields), words)
	}
	values := make([]value, 0, words*perWord)
	for i, word := range fields {
		parts := strings.Split(word, ",")
		if len(parts) != perWord {
			return nil, fmt.Errorf("value %d is %q: %d numbers are to stand there, with commas between", i+1, excerpt(word), perWord)
		}
		for _, part := range parts {
			v, err := parseValue(part)
			if err != nil {
				return nil, fmt.Errorf("value %d: %w", i+1, err)
			}
			values = append(values, v)
		}
	}
	return values, nil
}

// thread reads the number of a thread, from 0 to threads - 1.
func thread(v value, threads int) (int64, error) {
	if v.fraction != 0 || v.whole < 0 || v.whole >= int64(threads) {
		return 0, fmt.Errorf("there is no thread %v among %d, which count from 0", float64(v.whole)+v.fraction, threads)
	}
	return v.whole, nil
}

// isShown reports whether a character is safe to show: it neither controls a terminal nor changes the
// direction of text.
func isShown(r rune) bool { return unicode.IsPrint(r) && r != unicode.ReplacementChar }

// excerpt returns the beginning of a text, on one line that is safe to show on a terminal.
func excerpt(text string) string {
	const most = 60
	shown := text
	if len(shown) > most {
		shown = shown[:most]
	}
	shown = strings.Map(func(r rune) rune {
		if !isShown(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(shown, "?"))
	if len(text) > most {
		shown += " ..."
	}
	return shown
}
