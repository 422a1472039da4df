package render

import (
	"strings"
	"testing"

	"chronoscope/view"
)

// Rows whose long names differ only in the middle had one name. The whole name is shown on request.
func TestRowsOfLongNamesAreToldApart(t *testing.T) {
	name := func(program string) string {
		return "/home/me/projects/sort/build/" + program + " --input /srv/data/november.csv"
	}
	d := draw(view.Chart{Rows: []view.Row{{Name: name("sort-old")}, {Name: name("sort-new")}, {Name: "cat"}}})
	for i, want := range []string{"sort-old", "sort-new", "cat"} {
		text := d.Texts[len(d.Texts)-6+2*i]
		if !strings.Contains(text.Text, want) {
			t.Errorf("row %d is called %q", i, text.Text)
		}
		if whole := name(want); want == "cat" && text.Title != "" || want != "cat" && text.Title != whole {
			t.Errorf("row %d shows %q", i, text.Title)
		}
	}
}
