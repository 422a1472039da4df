package view

import "testing"

// A timer that is named three times in a row, once for each length, is named once in a remark.
func TestFoldsNameEachOnce(t *testing.T) {
	var f folds
	for _, name := range []string{"a", "b", "b", "c"} {
		f.add(fold{text: "why"}, name)
	}
	if lines := f.lines(5, 5); len(lines) != 1 || lines[0].Strong != "a, b, c:" {
		t.Errorf("%+v", lines)
	}
}
