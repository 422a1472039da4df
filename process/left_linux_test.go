package process

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Process 50 is the program. Its child 51 has ended; 52 is a daemon, with a thread 53 that has
// ended, and so is 54, a child of that thread. 60, whose thread 61 became another program, has
// ended twice: its first thread, and then itself. 77 is a stranger.
func TestLeft(t *testing.T) {
	forked := func(pid, tid, parent int) record {
		return record{kind: Forked, process: pid, tid: tid, parentTID: parent}
	}
	ended := func(pid, tid int) record { return record{kind: Exited, process: pid, tid: tid} }
	records := []record{
		forked(50, 50, 10), {kind: Executed, process: 50, tid: 50}, forked(77, 77, 10),
		forked(51, 51, 50), forked(52, 52, 51), ended(51, 51), forked(52, 53, 52), forked(54, 54, 53), ended(52, 53),
		forked(60, 60, 50), forked(60, 61, 60), ended(60, 60), {kind: Executed, process: 60, tid: 60},
		forked(51, 51, 10), {kind: Executed, process: 51, tid: 51}, // another program's, which has the number of one that ended
		ended(60, 60), ended(50, 50),
	}
	for i := range records {
		records[i].atNs = int64(i)
	}
	left := func(w *watch) []int { return slices.Sorted(maps.Keys(w.left(50))) }
	reversed := slices.Clone(records) // as from several buffers
	slices.Reverse(reversed)
	for _, order := range [][]record{records, reversed} {
		if got := left(&watch{records: slices.Clone(order)}); !slices.Equal(got, []int{52, 54}) {
			t.Errorf("%v are left, want 52 and 54", got)
		}
	}
	if got := left(&watch{records: slices.Clone(records[:len(records)-2])}); !slices.Equal(got, []int{52, 54, 60}) {
		t.Errorf("%v are left, and 60 runs another program", got)
	}
	if got := left(&watch{records: records, lost: 1}); len(got) > 0 {
		t.Errorf("%v are left though their ends may be missing", got)
	}
}

// A daemon has a session of its own, so that its process group doesn't tell whose it is.
func TestDaemonsEnd(t *testing.T) {
	l := NewLauncher()
	defer l.Close()
	// The second one has no parent any more.
	for _, script := range []string{"setsid sleep 1000 & daemon=$!; sleep 0.2; echo $daemon", "(setsid sh -c 'echo $$; exec sleep 1000' &); sleep 0.2"} {
		for name, run := range map[string]func(Command) (Run, error){
			"alone": func(c Command) (Run, error) { return c.Run(background) }, "launcher": func(c Command) (Run, error) { return l.Run(background, c) },
		} {
			var out bytes.Buffer
			c := shell(script)
			c.Untraced, c.Events, c.Stdout = true, true, &out
			r, err := run(c)
			if r = mustWatch(t, r, err); r.LostEvents > 0 {
				t.Skip("not all is known")
			}
			t.Logf("%s: %q", name, script)
			gone(t, strings.TrimSpace(out.String()))
		}
	}
}
