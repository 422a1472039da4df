package record

import "testing"

// A small file can name very many combinations of parameters: they are not made.
func TestAsvLabelsOfManyParameters(t *testing.T) {
	values := make([]any, 1000)
	for i := range values {
		values[i] = i
	}
	if labels := asvLabels([]any{values, values, values}); labels != nil {
		t.Errorf("%d labels", len(labels))
	}
	if labels := asvLabels([]any{[]any{"a", "b"}, []any{1, 2}}); len(labels) != 4 || labels[1] != "a, 2" {
		t.Errorf("%q", labels)
	}
}
