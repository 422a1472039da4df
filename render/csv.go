package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// CSV writes the fields of a document's elements, one row for each element. Columns are named like
// the JSON fields, those of nested objects with dots between the names. Unknown values are empty;
// the texts of a list are in one column, separated by semicolons. Texts are passed through
// [view.Harmless].
func CSV(w io.Writer, d record.Document) error {
	fields, err := view.FieldsOf(d)
	if err != nil {
		return err
	}
	return Table(w, fields)
}

// Table writes fields in the same form as [CSV].
func Table(w io.Writer, fields view.Fields) error {
	out := csv.NewWriter(w)
	columns := expanded(fields)
	var header []string
	for _, column := range columns {
		header = append(header, view.Harmless(strings.Join(column, ".")))
	}
	out.Write(header)
	for _, element := range fields.Rows {
		var row []string
		for _, column := range columns {
			row = append(row, textOf(at(reflect.ValueOf(element), column)))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// expanded returns the paths of the columns: an estimate has a column for each of its fields.
func expanded(fields view.Fields) (paths [][]string) {
	for _, column := range fields.Columns {
		path := strings.Split(column, ".")
		v := at(reflect.ValueOf(fields.Element), path)
		if !v.IsValid() || v.Type() != reflect.TypeFor[stats.Estimate]() {
			paths = append(paths, path)
			continue
		}
		for _, name := range []string{"value", "lo", "hi", "confidence", "unit", "statistic", "n", "discarded"} {
			paths = append(paths, append(slices.Clone(path), name))
		}
	}
	return paths
}

// at returns the value at a path of JSON names. It is not valid if a value on the path is nil.
func at(v reflect.Value, path []string) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	if len(path) == 0 || !v.IsValid() {
		return v
	}
	if e, ok := v.Interface().(stats.Estimate); ok {
		return reflect.ValueOf(fieldOfEstimate(e, path[0]))
	}
	if v.Kind() == reflect.Map {
		return at(v.MapIndex(reflect.ValueOf(path[0])), path[1:])
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == path[0] {
			return at(v.Field(i), path[1:])
		}
		if field.Anonymous && name == "" {
			if inner := at(v.Field(i), path); inner.IsValid() {
				return inner
			}
		}
	}
	return reflect.Value{}
}

// fieldOfEstimate returns the value of an estimate's JSON field.
func fieldOfEstimate(e stats.Estimate, name string) any {
	return map[string]any{
		"value": e.Value, "lo": e.Lo, "hi": e.Hi, "confidence": stats.Confidence,
		"unit": e.Unit, "statistic": e.Statistic, "n": e.N, "discarded": e.Discarded,
	}[name]
}

// textOf writes a value in full, and an unknown value as an empty text.
func textOf(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case []string:
		return view.Harmless(strings.Join(x, "; "))
	case time.Duration:
		v = reflect.ValueOf(float64(x.Nanoseconds()))
	case stats.Float:
		v = reflect.ValueOf(x.Value())
	}
	switch {
	case v.CanFloat():
		if !stats.IsFinite(v.Float()) {
			return ""
		}
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case v.Kind() == reflect.String:
		return view.Harmless(v.String())
	}
	return view.Harmless(fmt.Sprint(v.Interface()))
}
