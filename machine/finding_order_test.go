package machine

import (
	"fmt"
	"testing"
)

// The worst findings come first, and those of the same severity keep their order.
func TestWorstFirst(t *testing.T) {
	var found []Finding
	for i := range 60 {
		found = append(found, Finding{Topic: fmt.Sprintf("%02d", i), Severity: []Severity{OK, Note, Warning}[i%3]})
	}
	for i, f := range WorstFirst(found) {
		if want := fmt.Sprintf("%02d", i%20*3+2-i/20); f.Topic != want {
			t.Errorf("finding %d is %s, %s, want %s", i, f.Topic, f.Severity, want)
		}
	}
}
