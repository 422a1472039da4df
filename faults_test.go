package chronoscope_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// faultPage is the page that lists the faults, and the tests for each.
const faultPage = "docs/faults.md"

// faultCount is the number of faults.
const faultCount = 25

// faultRow is a row of the table.
type faultRow struct {
	number, fault, injected, says, tests string
}

// faultRows returns the rows whose first cell is a number.
func faultRows(page string) (rows []faultRow) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if _, err := strconv.Atoi(cells[1]); err == nil {
			rows = append(rows, faultRow{cells[1], cells[2], cells[3], cells[4], cells[5]})
		}
	}
	return rows
}

var (
	// quotation matches a text between two backticks.
	quotation = regexp.MustCompile("`([^`]+)`")
	// testName matches a package, a test, and optionally a case of it.
	testName = regexp.MustCompile(`^([a-z/]+): (Test\w+)(?:/(.+))?$`)
)

func quotations(cell string) (all []string) {
	for _, match := range quotation.FindAllStringSubmatch(cell, -1) {
		all = append(all, match[1])
	}
	return all
}

// source returns the text of the Go files of a directory, either those of tests or the others.
func source(t *testing.T, directory string, tests bool) string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && strings.HasSuffix(name, "_test.go") == tests {
			text, err := os.ReadFile(path.Join(directory, name))
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// Every fault has a row, and the tests in it exist.
func TestFaultTable(t *testing.T) {
	page, err := os.ReadFile(faultPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := faultRows(string(page))
	if len(rows) != faultCount {
		t.Errorf("%d faults, want %d", len(rows), faultCount)
	}
	said := everythingSaid(t)
	for i, row := range rows {
		if row.number != strconv.Itoa(i+1) || row.fault == "" || row.injected == "" || row.says == "" {
			t.Errorf("row %d is %+v", i+1, row)
		}
		tests := quotations(row.tests)
		if len(tests) == 0 {
			t.Errorf("fault %s: no test", row.number)
		}
		for _, test := range tests {
			if why := missing(t, test); why != "" {
				t.Errorf("fault %s: %s: %s", row.number, test, why)
			}
		}
		for _, words := range quotations(row.says) {
			if part := unsaid(words, said); part != "" {
				t.Errorf("fault %s: the tool nowhere says %q", row.number, part)
			}
		}
	}
}

// missing returns an error text if a name is not that of a test.
func missing(t *testing.T, test string) string {
	match := testName.FindStringSubmatch(test)
	if match == nil {
		return "no package and test"
	}
	directory, function, part := match[1], match[2], match[3]
	text := source(t, directory, true)
	if !strings.Contains(text, "\nfunc "+function+"(t *testing.T)") {
		return "there is no such test"
	}
	_, err := os.Stat(path.Join(directory, "testdata", "script", part+".txtar"))
	if part != "" && err != nil && !strings.Contains(text, strconv.Quote(part)) {
		return "the test has no such case"
	}
	return ""
}

// everythingSaid returns the source of all packages with messages to the user.
func everythingSaid(t *testing.T) string {
	var all strings.Builder
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case entry.Name() == "testdata" || entry.Name() == ".git":
			return fs.SkipDir
		}
		all.WriteString(source(t, name, false))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// unsaid returns a part of a quoted message that is not in the source. The message is split at the
// placeholders, which differ from case to case.
func unsaid(words, source string) string {
	for part := range strings.SplitSeq(words, "…") {
		if !strings.Contains(source, strings.TrimSpace(part)) {
			return part
		}
	}
	return ""
}

// The test of the table finds planted errors.
func TestFaultTableIsRead(t *testing.T) {
	rows := faultRows("| | fault | a | b | c |\n|---|---|---|---|---|\n| 7 | bad | hammer | `it broke … twice` | `clock: TestX` `machine: TestY/a b` |\ntext | 3 |\n")
	if len(rows) != 1 || rows[0].number != "7" || rows[0].injected != "hammer" {
		t.Fatalf("%+v", rows)
	}
	if names := quotations(rows[0].tests); len(names) != 2 || missing(t, names[0]) == "" || missing(t, "clock") == "" {
		t.Errorf("%q", names)
	}
	if missing(t, "stats: TestMedian/no such case") == "" || missing(t, "internal/cli: TestScripts/clocks") != "" {
		t.Error("cases and scripts are not looked for")
	}
	if unsaid("it broke … twice", "it broke %d times") != " twice" || unsaid("it broke … twice", `"it broke %d, twice"`) != "" {
		t.Error("words are not looked for")
	}
}
