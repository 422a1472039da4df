package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shownInPages matches a block of output in a page, after a comment that names the record that it shows, and the
// beginnings of its first and last line:
//
//	<!-- shown: clocks.json from "Can I trust" to "suspect time" -->
var shownInPages = regexp.MustCompile("(<!-- shown: (\\S+?)(?: from \"([^\"]*)\")?(?: to \"([^\"]*)\")? -->\n```\n)((?s:.*?))```\n")

// What the pages show is what the command prints of a record today. -update-shown writes it anew.
func TestPagesShowWhatIsPrinted(t *testing.T) {
	shown := 0
	for _, page := range pagesOfDocs(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		now := shownInPages.ReplaceAllStringFunc(string(text), func(block string) string {
			shown++
			part := shownInPages.FindStringSubmatch(block)
			printed := linesBetween(shownAs(t, filepath.Join("testdata", "pages", part[2]), "text"), part[3], part[4])
			if printed == "" {
				t.Errorf("%s: %s has no lines from %q to %q", page, part[2], part[3], part[4])
			}
			if !*updateShown && part[5] != printed {
				t.Errorf("%s does not show %s as it is printed: -update-shown writes it anew, if it is to be so\n%s", page, part[2], firstDifference(printed, part[5]))
			}
			return part[1] + printed + "```\n"
		})
		if *updateShown && now != string(text) {
			if err := os.WriteFile(page, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if records, _ := filepath.Glob("testdata/pages/*.json"); shown < len(records) || shown == 0 {
		t.Errorf("%d blocks of %d records were found", shown, len(records))
	}
}

// pagesOfDocs returns the files of the documentation.
func pagesOfDocs(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../DESIGN.md")
}

// linesBetween returns the lines from the first that begins with from, to the next that begins with to. An empty from
// is the first line, an empty to the last.
func linesBetween(text, from, to string) string {
	var b strings.Builder
	begun := false
	for line := range strings.Lines(text) {
		if begun = begun || strings.HasPrefix(line, from); !begun {
			continue
		}
		b.WriteString(line)
		if to != "" && strings.HasPrefix(line, to) {
			return b.String()
		}
	}
	if to != "" {
		return ""
	}
	return b.String()
}

var (
	linkInPages    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingOfPages = regexp.MustCompile(`(?m)^#+ (.*)$`)
	codeInPages    = regexp.MustCompile("(?ms)^```.*?^```$")
	notInAnchors   = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// Each link of a page to a file leads to one that exists, and to a heading in it.
func TestLinksLeadSomewhere(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		return codeInPages.ReplaceAllString(string(text), "")
	}
	followed := 0
	for _, page := range pagesOfDocs(t) {
		for _, link := range linkInPages.FindAllStringSubmatch(read(page), -1) {
			file, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(link[1], "://") {
				continue
			}
			followed++
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: %v", page, link[1], err)
				continue
			}
			found := anchor == ""
			if !found {
				for _, heading := range headingOfPages.FindAllStringSubmatch(read(target), -1) {
					found = found || strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-") == anchor
				}
			}
			if !found {
				t.Errorf("%s: %s: there is no such heading", page, link[1])
			}
		}
	}
	if followed < 50 {
		t.Errorf("only %d links were found", followed)
	}
}
