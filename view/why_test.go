package view

import (
	"fmt"
	"strings"
	"testing"

	"chronoscope/offcpu"
	"chronoscope/record"
	"chronoscope/stats"
)

// A build has hundreds of processes of one name, and text shows ten rows: processes of one name
// share a row, one more row sums up the small ones, and no time gets lost.
func TestWhyIsShort(t *testing.T) {
	d := record.Why{Subject: "make"}
	d.Judgement, d.Threads, d.WallNs = stats.NewJudgement(), 900, 1000
	total := int64(0)
	add := func(cause offcpu.Cause, name string, process int32, ns int64) {
		d.Parts = append(d.Parts, offcpu.Part{Cause: cause, Who: offcpu.Who{Name: name, Process: process}, Share: float64(ns) / 1e6, Count: 1, TotalNs: ns, MaxNs: ns})
		total += ns
	}
	for i := range int32(300) {
		add(offcpu.OwnProcess, "compile", 100+i, 2000)
		add(offcpu.RunqueueWait, fmt.Sprint("other", i%30), 1000+i, 500)
	}
	add(offcpu.Ran, "", 0, 100)
	add(offcpu.NotWoken, "ep_poll", 0, 90_000)
	add(offcpu.NotWoken, "do_wait", 0, 40_000)
	table := whyTable(groupsOf(d.Parts))
	if n := len(table.Rows); n != mostGroups+2 {
		t.Errorf("%d rows: %v", n, table.Rows)
	}
	first, second := fmt.Sprint(table.Rows[0]), fmt.Sprint(table.Rows[1])
	if !strings.Contains(first, "compile (300 processes)") || !strings.Contains(second, "in ep_poll and 1 more") {
		t.Errorf("first %s, then %s", first, second)
	}
	got := int64(0)
	for _, g := range folded(groupsOf(d.Parts)) {
		got += g.TotalNs
	}
	if got != total {
		t.Errorf("%d ns are shown of %d", got, total)
	}
}

// The tile of the largest wait says of which time its share is, and names the thread behind it if there is one: a sleep has
// none, and its sentence began with a bare colon.
func TestTileOfTheLargestWait(t *testing.T) {
	part := func(c offcpu.Cause, name string, share float64) offcpu.Part {
		return offcpu.Part{Cause: c, Who: offcpu.Who{Name: name}, Share: share, TotalNs: int64(share * 1e6)}
	}
	for _, c := range []struct {
		parts, wall []offcpu.Part
		want        string
	}{
		{[]offcpu.Part{part(offcpu.Timer, "", 0.69)}, []offcpu.Part{part(offcpu.Timer, "", 0.81)}, "81 %: For this share of the wall time it slept, or waited until a time limit."},
		{[]offcpu.Part{part(offcpu.Network, "eth0", 0.5)}, []offcpu.Part{part(offcpu.Network, "eth0", 0.6)}, "60 %: eth0: for this share of the wall time it waited for something from the network."},
		{[]offcpu.Part{part(offcpu.Throttled, "", 0.5)}, []offcpu.Part{part(offcpu.Ran, "", 1)}, "50 %: For this share of the threads' time the CPU quota of its control group was used up."},
		{[]offcpu.Part{part(offcpu.Timer, "", 0.5)}, nil, "50 %: For this share of the threads' time it slept, or waited until a time limit."},
		{[]offcpu.Part{part(offcpu.Ran, "", 1)}, []offcpu.Part{part(offcpu.Ran, "", 1)}, "none: The threads never waited."},
	} {
		d := record.Why{Subject: "make"}
		d.Judgement, d.Parts, d.Wall = stats.NewJudgement(), c.parts, c.wall
		tiles := why(d).Tiles
		if last := tiles[len(tiles)-1]; last.Figure+": "+last.Sentence != c.want {
			t.Errorf("%s: %s\nwant %s", last.Figure, last.Sentence, c.want)
		}
	}
}

// The wait that ended the recording heads the list of waits, though a longer one came in the same moment.
func TestTheWaitThatEndedTheRecordingComesFirst(t *testing.T) {
	longest := offcpu.Period{Name: "cc", Thread: 8, StartNs: 50e6, DurationNs: 54e6, Cause: offcpu.RunqueueWait}
	late := offcpu.Period{Name: "ld", Thread: 7, StartNs: 40e6, DurationNs: 6e6, Cause: offcpu.RunqueueWait}
	for _, worst := range [][]offcpu.Period{{longest, late}, {longest}} {
		s := worstWaits(record.Why{Late: &late, Result: offcpu.Result{Worst: worst}})
		if rows := s.Table.Rows; len(rows) != 2 || !strings.Contains(fmt.Sprint(rows[0]), "ld (7)") || !strings.Contains(fmt.Sprint(rows[1]), "cc (8)") {
			t.Errorf("%v", rows)
		}
	}
}

// A thread that was stopped did not wait for the thread that continued it: it was said to be "stopped 35 %, for bash".
func TestStoppedUntilSomebodyLetItGoOn(t *testing.T) {
	bash := offcpu.Who{Name: "bash", Process: 9}
	if got, want := wholeWords([]offcpu.Part{{Cause: offcpu.Stopped, Who: bash, Share: 0.35}}), "was stopped 35 %, until bash (pid 9) let it go on"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	late := offcpu.Period{Name: "spin", Thread: 7, StartNs: 40e6, DurationNs: 6e6, Cause: offcpu.Stopped, Who: bash}
	if got := fmt.Sprint(whyNotes(record.Why{Late: &late}, nil)); !strings.Contains(got, "(it was stopped, until bash (pid 9) let it go on)") {
		t.Error(got)
	}
}

// The summary begins with the cause that took most of the time, and names the threads.
func TestWhyInWords(t *testing.T) {
	part := func(c offcpu.Cause, name string, share float64) offcpu.Part {
		return offcpu.Part{Cause: c, Who: offcpu.Who{Name: name, Process: 7}, Share: share, TotalNs: int64(share * 1e6)}
	}
	got := wholeWords([]offcpu.Part{
		part(offcpu.RunqueueWait, "compile", 0.3), part(offcpu.RunqueueWait, "ld", 0.2), part(offcpu.Ran, "", 0.12),
		part(offcpu.OtherProcess, "server", 0.375), part(offcpu.Timer, "", 0.005),
	})
	want := "waited for a CPU 50 %, mostly for compile (pid 7) (30 %); waited for other processes 38 %, for server (pid 7); ran 12 %"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
