package record

import (
	"strings"
	"testing"
	"time"
)

// The last line's machine once stood for all lines.
func TestGoBenchmarkLinesOfSeveralMachines(t *testing.T) {
	const one, other = "cpu: A\ngoos: linux\nBenchmarkX-2 100 5 ns/op\n", "cpu: B\nBenchmarkX-2 100 7 ns/op\n"
	for text, told := range map[string]bool{one: false, one + one: false, one + other: true} {
		d, err := Import(strings.NewReader(text), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		h := d.Head()
		if h.Machine.CPU != "A" || told != strings.Contains(strings.Join(h.Caveats, "; "), "2 kinds of machine") {
			t.Errorf("%q: measured by %+v, caveats %q", text, h.Machine.CPU, h.Caveats)
		}
	}
}
