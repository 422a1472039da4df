package render

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// fieldsOf returns the JSON names of the fields of a type, at all depths.
func fieldsOf(of reflect.Type, into map[string]bool, seen map[reflect.Type]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		fieldsOf(of.Elem(), into, seen)
		return
	case reflect.Struct:
	default:
		return
	}
	if seen[of] || of == reflect.TypeFor[stats.Estimate]() || of == reflect.TypeFor[time.Time]() || of == reflect.TypeFor[machine.Machine]() {
		return // these types are documented as a whole
	}
	seen[of] = true
	for field := range of.NumField() {
		f := of.Field(field)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name != "" && f.IsExported() {
			into[name] = true
		}
		fieldsOf(f.Type, into, seen)
	}
}

// Each field of each document is described on the page for readers of the JSON output.
func TestEveryFieldIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range emptyDocuments() {
		names := map[string]bool{}
		fieldsOf(reflect.TypeOf(d), names, map[reflect.Type]bool{})
		if len(names) < 10 {
			t.Errorf("%T: only %d fields", d, len(names))
		}
		for name := range names {
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("%T: docs/output.md does not name the field %s", d, name)
			}
		}
	}
}
