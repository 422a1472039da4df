package machine

import (
	"fmt"
	"strings"
)

// judgeHugePages examines which memory gets transparent huge pages
// (Documentation/admin-guide/mm/transhuge.rst).
func judgeHugePages(d *Doctor) (*Finding, error) {
	const name = "sys/kernel/mm/transparent_hugepage/enabled"
	line, err := d.files().line(name)
	if err != nil {
		return nil, err
	}
	switch chosen := chosenOf(line); chosen {
	case "madvise", "never":
		return fine(fmt.Sprintf("transparent huge pages: %s", chosen)), nil
	case "always":
		return worthNoting("transparent huge pages: always",
			"whether memory comes in large pages depends on how fragmented it is, and a background thread changes it: work on much memory varies from run to run",
			fmt.Sprintf("for comparisons, as root: echo madvise > /%s", name)), nil
	}
	return nil, fmt.Errorf("/%s holds %q, not one of always, madvise and never in brackets", name, clip(line))
}

// chosenOf returns the word in brackets, as in "always [madvise] never".
func chosenOf(line string) string {
	for word := range strings.FieldsSeq(line) {
		if inner, ok := strings.CutPrefix(word, "["); ok && strings.HasSuffix(inner, "]") {
			return strings.TrimSuffix(inner, "]")
		}
	}
	return ""
}
