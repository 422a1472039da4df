package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// watchRunning watches a machine that shows one of lines after the other in /proc/loadavg.
func watchRunning(m *Machine, own content, lines ...string) {
	tree := own.tree()
	next := func() {
		tree["proc/loadavg"] = &fstest.MapFile{Data: []byte(lines[0])}
		lines = append(lines[1:], lines[0])
	}
	next()
	m.WatchRunning(tree, window, func(d time.Duration) time.Duration { next(); return d })
}

// The load average of the last minute once included the compiler of this program, and the report
// warned of it.
func TestLoadThatHasEnded(t *testing.T) {
	for _, c := range []struct {
		name     string
		load     float64
		lines    []string
		severity Severity
		says     string
	}{
		{"compiled a moment ago", 3.2, []string{"3.20 1.1 0.5 1/200 7"}, OK, "0 threads of others"},
		{"two loops now", 3.2, []string{"3.20 1.1 0.5 3/200 7"}, Warning, "2 threads of others"},
		{"two loops that have only begun", 0.1, []string{"0.10 0.1 0.1 3/200 7"}, Warning, "share its CPU"},
		{"now and then", 0.1, []string{"0.10 0.1 0.1 1/200 7", "0.10 0.1 0.1 3/200 7"}, OK, "1 threads of others"},
		{"more than half", 0.1, []string{"0.10 0.1 0.1 2/200 7", "0.10 0.1 0.1 3/200 7"}, Note, "1.5 threads of others"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Machine{OS: "linux", Load1: new(c.load), CPUsOnline: new(2)}
			watchRunning(m, nil, c.lines...)
			findings := m.Findings()
			i := slices.IndexFunc(findings, func(f Finding) bool { return f.Topic == "load" })
			if i < 0 {
				t.Fatalf("nothing on load in %+v", findings)
			}
			f := findings[i]
			checkComplete(t, f)
			if f.Severity != c.severity || !strings.Contains(f.Seen+"|"+f.Effect, c.says) {
				t.Errorf("%+v, want %s that says %q", f, c.severity, c.says)
			}
		})
	}
}

// Threads of this process don't count as load, whatever their names are.
func TestOwnThreadsAreNoLoad(t *testing.T) {
	own := content{
		"proc/self/task/7/stat": "7 (a) R 1) R 1 7 7 0",
		"proc/self/task/8/stat": "8 (chronoscope) R 1 7 7 0",
		"proc/self/task/9/stat": "9 (R) S 1 7 7 0",
		"proc/self/task/x/stat": "\x1b[31m",
	}
	m := &Machine{OS: "linux"}
	watchRunning(m, own, "0 0 0 3/9 1")
	if m.Running == nil || *m.Running != 1 {
		t.Errorf("%v, want 1 of 3, since two are this process's", m.Running)
	}
}

// If the text is no number of threads, the number is unknown, a caveat says so, and the text can't
// act on a terminal.
func TestHostileLoadAverage(t *testing.T) {
	for _, line := range []string{
		"", "1.0", "1 1 1", "1 1 1 1", "1 1 1 /", "1 1 1 -1/5 1", "1 1 1 9/5 1", "1 1 1 NaN/5 1", "1 1 1 1e9/2e9 1",
		"1 1 1 4294967296/4294967297 1", "1 1 1 18446744073709551615/18446744073709551615 1",
		"1 1 1 \x1b[2J1/2 1", "1 1 1 \u202e1/2 1", "1 1 1 " + strings.Repeat("1", 5000) + "/2",
	} {
		m := &Machine{OS: "linux", Load1: new(0.1), CPUsOnline: new(2)}
		watchRunning(m, nil, line)
		if m.Running != nil || len(m.Caveats) != 1 {
			t.Errorf("%q: %v, caveats %q", clip(line), m.Running, m.Caveats)
		}
		if text := fmt.Sprint(m.Caveats); !printable(text) || len(text) > 400 {
			t.Errorf("%q: the caveat can't be printed: %q", clip(line), text)
		}
		if f := m.Findings(); len(f) == 0 || !strings.Contains(f[0].Seen, "load average of the last minute 0.10") {
			t.Errorf("%q: %+v does not fall back to the load average", clip(line), f)
		}
	}
}
