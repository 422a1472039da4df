package view

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Harmless returns a text from outside in a form that can be shown on a terminal or a page.
// Characters that could control the terminal, reverse the text around them or hide in it are
// replaced by the replacement character (U+FFFD): control characters (C0, DEL and C1), bytes that
// are not UTF-8, format characters such as those of writing direction, and separators of lines.
// Line feeds and tabs stay.
func Harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !isHidden(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// OneLine is [Harmless] for a name or a table cell: it also replaces line feeds, which would break
// a row of a table.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n':
			return '␤'
		case '\t':
			return ' '
		}
		return r
	}, Harmless(text))
}

// isHidden reports whether a character has no visible form of its own.
func isHidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError
}

// Shown returns a copy of a document whose texts can be shown: each is passed through [OneLine], or
// through [Harmless] if it may have several lines. The document itself stays as it is.
func Shown[D any](document D) D {
	v := reflect.ValueOf(&document).Elem()
	v.Set(shown(v, OneLine))
	return document
}

// severalLines are the fields whose texts may have several lines.
var severalLines = map[string]bool{"StderrEnd": true}

// shown returns a copy of a value whose texts are cleaned.
func shown(v reflect.Value, clean func(string) string) reflect.Value {
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	if v.IsZero() {
		return copied
	}
	switch v.Kind() {
	case reflect.String:
		copied.SetString(clean(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				cleanField := clean
				if severalLines[field.Name] {
					cleanField = Harmless
				}
				copied.Field(i).Set(shown(v.Field(i), cleanField))
			}
		}
	case reflect.Interface:
		copied.Set(shown(v.Elem(), clean))
	case reflect.Pointer:
		copied.Set(reflect.New(v.Type().Elem()))
		copied.Elem().Set(shown(v.Elem(), clean))
	case reflect.Slice:
		copied.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			copied.Index(i).Set(shown(v.Index(i), clean))
		}
	case reflect.Map:
		copied.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for entries := v.MapRange(); entries.Next(); {
			copied.SetMapIndex(shown(entries.Key(), clean), shown(entries.Value(), clean))
		}
	}
	return copied
}
