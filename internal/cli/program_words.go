package cli

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// splitWords splits a command line into words by the quoting rules of POSIX (Shell Command Language, 2.2),
// without a shell. It refuses what only a shell would replace or do, such as a variable, a pattern or a pipe:
// without a shell, the command would not do what was meant.
func splitWords(line string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("%q can't be split into words: %w", line, err)
	}
	call, err := soleCall(file)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	var words []string
	for _, word := range call.Args {
		if what := shellOnly(word); what != "" {
			return nil, fmt.Errorf("%q: %s takes a shell: give --shell, or put it between single quotes if it is meant as it stands", line, what)
		}
		words = append(words, unquoted(word.Parts, ""))
	}
	return words, nil
}

// soleCall returns the single simple command of a line.
func soleCall(file *syntax.File) (*syntax.CallExpr, error) {
	if len(file.Stmts) == 0 {
		return nil, errors.New("there is no command in it")
	}
	statement := file.Stmts[0]
	call, ok := statement.Cmd.(*syntax.CallExpr)
	switch {
	case len(file.Stmts) > 1, !ok, statement.Negated, statement.Background, len(statement.Redirs) > 0:
		return nil, errors.New("more than one command, or where its input and output go, takes a shell: give --shell, or --input and --program-output for files")
	case len(call.Assigns) > 0:
		return nil, errors.New("a variable before a command takes a shell: give --env NAME=VALUE, or --shell")
	}
	return call, nil
}

// shellOnly names a part of a word that only a shell replaces; it is empty if the word has none.
func shellOnly(word *syntax.Word) (what string) {
	syntax.Walk(word, func(node syntax.Node) bool {
		switch node.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			what = "what starts with $ or a backquote"
		}
		return what == ""
	})
	for i, part := range word.Parts {
		literal, ok := part.(*syntax.Lit)
		switch {
		case !ok:
		case i == 0 && strings.HasPrefix(literal.Value, "~"):
			return "a home directory"
		case pattern.HasMeta(literal.Value, 0):
			return "a pattern of file names"
		}
	}
	return what
}

// unquoted returns the text that parts of a word stand for. A backslash is removed and the next character kept,
// between double quotes only if that is one of escapes.
func unquoted(parts []syntax.WordPart, escapes string) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(unquoted(part.Parts, "$`\"\\\n"))
		case *syntax.Lit:
			b.WriteString(unescaped(part.Value, escapes))
		}
	}
	return b.String()
}

// unescaped removes the backslashes that escape characters: all, or, if escapes is not empty, only those before
// one of escapes. An escaped end of line joins two lines.
func unescaped(text, escapes string) string {
	var b strings.Builder
	escaped := false
	for _, r := range text {
		switch {
		case escaped && r == '\n':
		case escaped && escapes != "" && !strings.ContainsRune(escapes, r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case !escaped && r == '\\':
			escaped = true
			continue
		default:
			b.WriteRune(r)
		}
		escaped = false
	}
	return b.String()
}

// joinWords returns a command line that splitWords splits into the words.
func joinWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		text, err := syntax.Quote(word, syntax.LangPOSIX)
		if err != nil { // unprintable
			text = fmt.Sprintf("%q", word)
		}
		quoted[i] = text
	}
	return strings.Join(quoted, " ")
}
