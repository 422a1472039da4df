package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
)

// output returns what the command prints. The command has to succeed.
func output(t testing.TB, args ...string) []byte {
	t.Helper()
	printed, err := exec.Command(chronoscope, args...).Output()
	if err != nil {
		t.Fatalf("chronoscope %q: %v", args, err)
	}
	return printed
}

// The text and the CSV table show the content of the JSON document.
func TestThreeFormsOfOneDocument(t *testing.T) {
	t.Parallel()
	printed := output(t, "clocks", "--quick", "--format", "json", "tsc", "cntvct", "monotonic", "times", "thread-cputime")
	var d record.Clocks
	if err := json.Unmarshal(printed, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Clocks) == 0 || len(d.Unavailable) == 0 {
		t.Fatalf("%d clocks and %d unavailable ones", len(d.Clocks), len(d.Unavailable))
	}
	t.Run("text", func(t *testing.T) { checkText(t, d) })
	t.Run("csv", func(t *testing.T) { checkTable(t, d, printed) })
}

// checkText checks that the text mentions every clock, and every reason and caveat.
func checkText(t *testing.T, d record.Clocks) {
	var b bytes.Buffer
	render.Write(&b, render.TextFormat, d, render.Style{})
	shown := b.String()
	var want []string
	for _, c := range d.Caveats {
		if topic, unknown := machine.UnknownTopic(c); unknown {
			c = topic // several clocks share this line
		}
		want = append(want, c)
	}
	for _, c := range d.Clocks {
		want = append(want, " "+c.Name+" ", string(c.Verdict))
		for _, reason := range c.Reasons {
			want = append(want, fmt.Sprintf("%s %s: %s", c.Verdict, c.Name, reason))
		}
	}
	for _, u := range d.Unavailable {
		want = append(want, u.Name, u.Reason)
		if u.Remedy != nil {
			want = append(want, *u.Remedy)
		}
	}
	for _, text := range want {
		if !strings.Contains(shown, text) {
			t.Errorf("the text does not hold %q:\n%s", text, shown)
		}
	}
}

// checkTable compares every cell with the field that its column names.
func checkTable(t *testing.T, d record.Clocks, printed []byte) {
	var b bytes.Buffer
	if err := render.CSV(&b, d); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var fields struct{ Clocks []map[string]any }
	if err := json.Unmarshal(printed, &fields); err != nil {
		t.Fatal(err)
	}
	columns, rows := table[0], table[1:]
	if len(rows) != len(fields.Clocks) {
		t.Fatalf("%d rows for %d clocks", len(rows), len(fields.Clocks))
	}
	for i, row := range rows {
		delete(fields.Clocks[i], "least_disturbed") // only compare uses it, and reads JSON
		cells := cellsOf(fields.Clocks[i])
		if names := slices.Sorted(maps.Keys(cells)); !slices.Equal(names, slices.Sorted(slices.Values(columns))) {
			t.Fatalf("columns %q\nfields %q", columns, names)
		}
		for j, cell := range row {
			if cell != cells[columns[j]] {
				t.Errorf("%s: %s is %q in the table and %q in the document", row[0], columns[j], cell, cells[columns[j]])
			}
		}
	}
}

// cellsOf returns the fields of an object as cells. Fields of an object inside it have names joined
// with a dot. Null is an empty cell.
func cellsOf(fields map[string]any) map[string]string {
	cells := map[string]string{}
	for name, value := range fields {
		switch v := value.(type) {
		case nil:
			cells[name] = ""
		case map[string]any:
			for inner, cell := range cellsOf(v) {
				cells[name+"."+inner] = cell
			}
		case []any:
			var all []string
			for _, element := range v {
				all = append(all, fmt.Sprint(element))
			}
			cells[name] = strings.Join(all, "; ")
		case float64:
			cells[name] = strconv.FormatFloat(v, 'g', -1, 64)
		default:
			cells[name] = fmt.Sprint(v)
		}
	}
	return cells
}
