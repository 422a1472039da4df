package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// The gate judges the newest commit, also if its value is unusable: it once judged an older commit then. With a record
// elsewhere it judged that one alone. What the newest commit has no result of once ended with 1, also if it was removed, not
// asked for, or new on another branch; and so did the first four commits with a new benchmark, with --undecided pass, too.
func TestGateJudgesTheNewestCommit(t *testing.T) {
	unusable, failed := benchOf("Encode", 2e9), benchOf("Encode", 1)
	unusable.Lower(stats.Unusable, "one repetition alone would have taken longer")
	failed.Estimate, failed.Metrics = stats.NoEstimate("ns", "median"), nil
	failed.Lower(stats.Unusable, "it crashed")
	encode, decode, fresh := benchOf("Encode", 131), benchOf("Decode", 50), benchOf("Fresh", 70)
	both := []gobench.Report{encode, decode}
	const gone = "missing at commit 0abc0014 but not at the commit before: time of example."
	elsewhere := record.Programs{
		Header:  record.Header{Schema: record.Schema, Command: "run", Started: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Caveats: []string{}, Machine: &machine.Machine{CPU: "Other"}},
		Results: []program.Report{{Command: "true", Summary: program.Summary{Estimate: stats.NoEstimate("ns", "median"), CPU: stats.NoEstimate("ns", "median"), Wall: stats.Estimate{Value: 1e6, Lo: 1e6, Hi: 1e6, Unit: "ns", N: 9}}, Judgement: stats.NewJudgement()}},
		Pairs:   []stats.Pair{},
	}
	for name, c := range map[string]struct {
		last   [][]gobench.Report // of the newest commits
		beside record.Document
		status int
		says   string
	}{
		"as before":                       {[][]gobench.Report{both}, nil, 0, ""},
		"slower":                          {[][]gobench.Report{{benchOf("Encode", 200), decode}}, nil, 3, "time of example.Encode is slower"},
		"unusable":                        {[][]gobench.Report{{unusable, decode}}, nil, 1, "time of example.Encode is worse than before can't be told: its value at commit 0abc0014 is unusable"},
		"failed":                          {[][]gobench.Report{{failed, decode}}, nil, 1, "its value at commit 0abc0014 is unusable"},
		"failed twice":                    {[][]gobench.Report{{failed, decode}, {failed, decode}}, nil, 1, "its value at commit 0abc0015 is unusable"},
		"nothing else was measured":       {[][]gobench.Report{{failed}}, nil, 1, "time of example.Encode is worse than before can't be told: its value at commit 0abc0014 is unusable"},
		"nothing is left":                 {[][]gobench.Report{{}}, nil, 1, gone + "Decode, time of example.Encode"},
		"left out":                        {[][]gobench.Report{{decode}}, nil, 0, gone + "Encode"},
		"slower, and one is left out":     {[][]gobench.Report{{benchOf("Encode", 200)}}, nil, 3, "time of example.Encode is slower"},
		"gone since two commits":          {[][]gobench.Report{{decode}, {decode}}, nil, 0, ""},
		"new":                             {[][]gobench.Report{{encode, decode, fresh}}, nil, 0, "not judged, since no record before commit 0abc0014 has them: time of example.Fresh"},
		"new, and one is slower":          {[][]gobench.Report{{benchOf("Encode", 200), decode, fresh}}, nil, 3, "time of example.Encode is slower"},
		"new at the commit before":        {[][]gobench.Report{{encode, decode, fresh}, {encode, decode, fresh}}, nil, 1, "time of example.Fresh is worse than before can't be told: there are too few records"},
		"unusable at first":               {[][]gobench.Report{{unusable, decode}, both}, nil, 0, ""},
		"slower, with a record elsewhere": {[][]gobench.Report{{benchOf("Encode", 200), decode}}, elsewhere, 3, "time of example.Encode is slower"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			const before = 20
			for day := range before {
				off := float64(day * 7 % 5)
				keepBench(t, folder, day, benchOf("Encode", 130+off/2), benchOf("Decode", 50+off/5))
			}
			for i, results := range c.last {
				keepBench(t, folder, before+i, results...)
			}
			if c.beside != nil {
				keepDocument(t, folder, c.beside)
			}
			out, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%")
			if said := strings.Join(strings.Fields(out+problems), " "); status != c.status || !strings.Contains(said, c.says) {
				t.Errorf("status %d, want %d with %q: %s", status, c.status, c.says, said)
			}
			passing := c.status
			if passing == 1 && len(c.last[0]) > 0 {
				passing = 0
			}
			if _, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%", "--undecided", "pass"); status != passing {
				t.Errorf("--undecided pass: status %d, want %d: %s", status, passing, problems)
			}
		})
	}
}

// Figures whose values were all unusable were left out without a word: no figures were found, and a gate with other benchmarks passed.
func TestGateOfWhatWasAlwaysUnusable(t *testing.T) {
	unusable := benchOf("Encode", 131)
	unusable.Lower(stats.Unusable, "two repetitions")
	const shown = "not shown, since all values are unusable: time of example.Encode"
	for _, c := range []struct {
		beside          []gobench.Report
		commits, status int
		says            string
	}{
		{nil, 20, 1, "time of example.Encode is worse than before can't be told: its value at commit 0abc0013 is unusable"},
		{[]gobench.Report{benchOf("Decode", 50)}, 20, 1, "time of example.Encode is worse than before can't be told: its value at commit 0abc0013 is unusable"},
		{nil, 1, 1, "whether anything is worse than before can't be told: no figure has a usable value at commit 0abc0000"},
	} {
		folder := t.TempDir()
		for day := range c.commits {
			keepBench(t, folder, day, append(slices.Clone(c.beside), unusable)...)
		}
		out, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%")
		if status != c.status || !strings.Contains(problems, c.says) || !strings.Contains(out, shown) {
			t.Errorf("%d beside it: status %d: %s%s", len(c.beside), status, out, problems)
		}
	}
}

// Where all figures of the newest commit were new, none was said to be usable there.
func TestGateOfNewFiguresOnly(t *testing.T) {
	folder := t.TempDir()
	for day := range 6 {
		keepBench(t, folder, day, benchOf("Decode", 50))
	}
	keepBench(t, folder, 6, benchOf("Encode", 131))
	const want = "the figures at commit 0abc0006 are new, and there is nothing before to hold them against"
	if _, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%"); status != 1 || !strings.Contains(problems, want) {
		t.Errorf("status %d: %s", status, problems)
	}
}

// A benchmark that fails at the newest commit is unusable there also where only its wall time was known before.
func TestGateJudgesFailuresOfWallTimes(t *testing.T) {
	folder := t.TempDir()
	failed := benchOf("Encode", 1)
	failed.Estimate, failed.Wall, failed.Metrics = stats.NoEstimate("ns", "median"), stats.NoEstimate("ns", "median"), nil
	failed.Lower(stats.Unusable, "it crashed")
	for day := range 20 {
		r := benchOf("Encode", 130+float64(day*7%5))
		r.Wall, r.Estimate = r.Estimate, stats.NoEstimate("ns", "median")
		keepBench(t, folder, day, r, benchOf("Decode", 50+float64(day*7%5)/5))
	}
	keepBench(t, folder, 20, failed, benchOf("Decode", 50))
	const want = "wall time of example.Encode is worse than before can't be told: its value at commit 0abc0014 is unusable"
	out, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%")
	if status != 1 || !strings.Contains(problems, want) || strings.Contains(out+problems, "all values are unusable") || strings.Contains(problems, "nor of") { // its wall time stands for the time
		t.Errorf("status %d: %s%s", status, out, problems)
	}
}

// What the newest commit's own records hold is judged. A later record without a commit once hid a slower commit or failed a
// good one, and records of changed code were averaged with those of the commit.
func TestGateJudgesRecordsOfTheCommitItself(t *testing.T) {
	commit := record.Source{Commit: "feed" + strings.Repeat("0", 36), Time: dayOf(20)}
	changed := commit
	changed.Modified = true
	unusable := benchOf("Encode", 131)
	unusable.Lower(stats.Unusable, "one repetition alone would have taken longer")
	type kept struct {
		source *record.Source
		result gobench.Report
	}
	const differed = "the gate judges code that differed from commit feed0000"
	for name, c := range map[string]struct {
		last           []kept
		status         int
		says, saysNone string
	}{
		"slow, then without a commit":            {[]kept{{&commit, benchOf("Encode", 200)}, {nil, benchOf("Encode", 131)}}, 3, "time of example.Encode is slower", differed},
		"good, then slow without a commit":       {[]kept{{&commit, benchOf("Encode", 131)}, {nil, benchOf("Encode", 200)}}, 0, "", differed},
		"slow, then two without a commit":        {[]kept{{&commit, benchOf("Encode", 200)}, {nil, benchOf("Encode", 131)}, {nil, benchOf("Encode", 131)}}, 3, "slower", differed},
		"unusable, then without a commit":        {[]kept{{&commit, unusable}, {nil, benchOf("Encode", 131)}}, 1, "its value at commit feed0000 is unusable", differed},
		"slow without a commit, of another name": {[]kept{{&commit, benchOf("Decode", 50)}, {nil, benchOf("Encode", 200)}}, 3, "time of example.Encode is slower", differed},
		"slow, then fast as changed":             {[]kept{{&commit, benchOf("Encode", 200)}, {&changed, benchOf("Encode", 100)}}, 3, "slower than the regime before it by 5", differed},
		"slow as changed, then good":             {[]kept{{&changed, benchOf("Encode", 200)}, {&commit, benchOf("Encode", 131)}}, 0, "marked with +", differed},
		"unusable, then good as changed":         {[]kept{{&commit, unusable}, {&changed, benchOf("Encode", 131)}}, 1, "is unusable", differed},
		"slow as changed alone":                  {[]kept{{&changed, benchOf("Encode", 200)}}, 3, "where the code differed from commit feed0000", "+0x"},
		"good as changed alone":                  {[]kept{{&changed, benchOf("Encode", 131)}}, 0, differed, "+0x"},
		"new, and also as changed":               {[]kept{{&changed, benchOf("Fresh", 70)}, {&commit, benchOf("Fresh", 70)}, {&commit, benchOf("Encode", 131)}}, 0, "no record before commit feed0000 has them: time of example.Fresh", differed},
		"new, and then without a commit":         {[]kept{{&commit, benchOf("Fresh", 70)}, {nil, benchOf("Fresh", 70)}, {nil, benchOf("Encode", 131)}}, 0, "no record before commit feed0000 has them: time of example.Fresh", differed},
		"slower without a commit, as all before": {slices.Concat([]kept{{&commit, benchOf("Encode", 131)}}, slices.Repeat([]kept{{nil, benchOf("Fresh", 70)}}, 20), []kept{{nil, benchOf("Fresh", 140)}}), 3, "time of example.Fresh is slower", differed},
		"new without a commit":                   {[]kept{{&commit, benchOf("Encode", 131)}, {nil, benchOf("Fresh", 70)}}, 0, "no record before commit feed0000 has them: time of example.Fresh", differed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for day := range 20 {
				off := float64(day * 7 % 5)
				keepBench(t, folder, day, benchOf("Encode", 130+off/2), benchOf("Decode", 50+off/5))
			}
			for i, k := range c.last {
				keepBenchOf(t, folder, k.source, dayOf(20).Add(time.Duration(i+1)*time.Minute), k.result)
			}
			out, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%")
			if said := strings.Join(strings.Fields(out+problems), " "); status != c.status || !strings.Contains(said, c.says) || strings.Contains(said, c.saysNone) {
				t.Errorf("status %d, want %d with %q and without %q: %s", status, c.status, c.says, c.saysNone, said)
			}
		})
	}
}

// Records of changed code don't count where enough of unchanged code are known: nine of them, of work that then became the
// newest commit, once were the regime that it was held against. Where all records are of changed code, they count.
func TestGateBesideWorkInProgress(t *testing.T) {
	for _, allChanged := range []bool{false, true} {
		folder := t.TempDir()
		keep := func(day, minute int, changed bool, ns float64) {
			at := dayOf(day)
			keepBenchOf(t, folder, &record.Source{Commit: fmt.Sprintf("%040x", day+1), Time: at, Modified: changed}, at.Add(time.Duration(minute)*time.Minute), benchOf("Encode", ns+float64((day+minute)*7%5)/2))
		}
		for day := range 19 {
			keep(day, 0, allChanged, 130)
		}
		if !allChanged {
			for i := range 9 { // of a commit that was never measured as it is
				keep(19, 1+i, true, 200)
			}
		}
		keep(20, 0, allChanged, 200)
		if _, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%"); status != 3 || !strings.Contains(problems, "slower than the regime before it by 5") {
			t.Errorf("all changed: %t: status %d: %s", allChanged, status, problems)
		}
	}
}

// What is new on two kinds of machine is new on both. On the second one it once ended with 1, for too few records.
func TestGateOfWhatIsNewOnTwoMachines(t *testing.T) {
	folder := t.TempDir()
	for day := range 6 {
		for i, cpu := range []string{"Example 9000", "Other"} {
			results := []gobench.Report{benchOf("Encode", 130)}
			if day == 5 {
				results = append(results, benchOf("Fresh", 70))
			}
			at := dayOf(day)
			keepDocument(t, folder, record.Bench{
				Header: record.Header{Schema: record.Schema, Command: "bench", Started: at.Add(time.Duration(i) * time.Minute), Caveats: []string{},
					Source: &record.Source{Commit: fmt.Sprintf("%040x", day+1), Time: at}, Machine: &machine.Machine{CPU: machine.Text(cpu)}},
				Results: results, Pairs: []stats.Pair{},
			})
		}
	}
	out, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%")
	const want = "has them: time of example.Fresh"
	if said := strings.Join(strings.Fields(out), " "); status != 0 || !strings.Contains(said, want) {
		t.Errorf("status %d, want 0 with %q: %s%s", status, want, said, problems)
	}
}

// A metric that becomes worse from 0 or to 0 has no ratio, and ends with 1. It once passed without a word. A 0 that is not
// compared does no harm: any one once made each later change end with 1.
func TestGateOfFiguresWithoutRatio(t *testing.T) {
	for _, c := range []struct {
		unit                    string
		zeros                   int // so many records have 0 at first
		before, newest          float64
		status, ifUndecidedPass int
		says                    string
	}{
		{"allocs/op", 0, 0, 50, 1, 0, "allocs/op of example.Encode is worse than before"},
		{"MB/s", 0, 100, 0, 1, 0, "MB/s of example.Encode is worse than before"},
		{"allocs/op", 0, 50, 0, 0, 0, ""},
		{"allocs/op", 0, 0, 0, 0, 0, ""},
		{"allocs/op", 0, 5, 50, 3, 3, "allocs/op of example.Encode is worse than the regime"},
		{"allocs/op", 10, 1000, 1001, 0, 0, ""},
		{"allocs/op", 10, 1000, 2000, 3, 3, "allocs/op of example.Encode is worse than the regime before it by 100 %"},
		{"allocs/op", 10, 1000, 0, 0, 0, ""},
	} {
		folder := t.TempDir()
		days := 20 + c.zeros
		for day := range days + 1 {
			r := benchOf("Encode", 130+float64(day*7%5)/2)
			r.Metrics = []gobench.Metric{{Unit: c.unit, Value: c.before}}
			if day < c.zeros {
				r.Metrics[0].Value = 0
			}
			if day == days {
				r.Metrics[0].Value = c.newest
			}
			keepBench(t, folder, day, r)
		}
		_, problems, status := runHere(t, "history", "--store", folder, "--gate", "10%")
		if status != c.status || !strings.Contains(problems, c.says) || c.says == "" && problems != "" {
			t.Errorf("%s from %g to %g: status %d, want %d with %q: %s", c.unit, c.before, c.newest, status, c.status, c.says, problems)
		}
		_, problems, status = runHere(t, "history", "--store", folder, "--gate", "10%", "--undecided", "pass")
		if status != c.ifUndecidedPass || !strings.Contains(problems, c.says) {
			t.Errorf("%s from %g to %g: --undecided pass: status %d, want %d with %q: %s", c.unit, c.before, c.newest, status, c.ifUndecidedPass, c.says, problems)
		}
	}
}

// If HEAD was not measured, a gate judges an older commit or one of another branch, and says so.
func TestGateSaysThatHeadWasNotMeasured(t *testing.T) {
	t.Chdir(t.TempDir())
	var commits []string
	for _, args := range []string{"init -q", "commit -q --allow-empty -m a", "commit -q --allow-empty -m b"} {
		git(t.Context(), append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, strings.Fields(args)...)...)
		commits = append(commits, git(t.Context(), "rev-parse", "HEAD"))
	}
	for _, c := range []struct {
		newest string
		isGate bool
		want   int
	}{{commits[1], true, 1}, {commits[1], false, 0}, {commits[2], true, 0}, {"0123456789abcdef", true, 1}, {"0123456789abcdef", false, 0}, {"", true, 0}} {
		if said := caveatsOfHistory(t.Context(), record.History{NewestCommit: c.newest}, c.isGate); len(said) != c.want || c.want > 0 && !strings.Contains(said[0], "HEAD is "+commits[2][:8]) {
			t.Errorf("%+v: %q", c, said)
		}
	}
}

// If HEAD was measured, it is judged. Commits of another branch, which HEAD's history lacks, and all that are no older than HEAD
// are left out of what it is held against: a fast branch that was never merged once made main's next commit a regression, and
// a commit that another job measured meanwhile was judged in place of HEAD, with HEAD as one of the records before it. Without a gate, and where git can't tell, they keep their places.
func TestGateLeavesOutOtherBranches(t *testing.T) {
	repository, folder := t.TempDir(), t.TempDir()
	t.Chdir(repository)
	minute := 0
	run := func(args ...string) string {
		return git(t.Context(), append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	}
	keep := func(hash string, ns float64) time.Time {
		minute++
		at := dayOf(0).Add(time.Duration(minute) * time.Minute)
		keepBenchOf(t, folder, &record.Source{Commit: hash, Time: at}, at, benchOf("Encode", ns+float64(minute*7%5)/5))
		return at
	}
	commit := func() string {
		run("commit", "-q", "--allow-empty", "-m", fmt.Sprint(minute))
		return run("rev-parse", "HEAD")
	}
	run("init", "-q", "-b", "main")
	for range 10 {
		keep(commit(), 100)
	}
	run("checkout", "-q", "-b", "fast")
	for range 10 {
		keep(commit(), 80)
	}
	run("checkout", "-q", "main")
	head := commit()
	keep(head, 100)
	const leftOut, places = "the gate leaves out the records of 10 measured commits that the history of HEAD lacks", "not in the history of HEAD"
	check := func(why string, want int, says, saysNone string, args ...string) {
		t.Helper()
		out, problems, status := runHere(t, append([]string{"history", "--store", folder}, args...)...)
		if said := strings.Join(strings.Fields(out+problems), " "); status != want || !strings.Contains(said, says) || strings.Contains(said, saysNone) {
			t.Errorf("%s: status %d, want %d with %q and without %q: %s", why, status, want, says, saysNone, said)
		}
	}
	check("HEAD is as main was", 0, leftOut, places, "--gate", "5%")
	check("no gate", 0, places, leftOut)
	shallow := func(is bool) {
		t.Helper()
		var err error
		if is {
			err = os.WriteFile(".git/shallow", []byte(head+"\n"), 0o644)
		} else {
			err = os.Remove(".git/shallow")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shallow(true)
	check("a shallow clone", 3, places, leftOut, "--gate", "5%")
	shallow(false)
	run("checkout", "-q", "fast")
	check("the branch itself", 0, "of 1 measured commit that", places, "--gate", "5%")
	run("checkout", "-q", "main")
	commit()
	check("HEAD was not measured", 3, places, leftOut, "--gate", "5%")
	run("reset", "-q", "--hard", head)
	run("branch", "-q", "-D", "fast")
	run("reflog", "expire", "--expire=now", "--all")
	run("gc", "-q", "--prune=now")
	check("commits that this repository does not know, beside enough that it does", 0, places, leftOut, "--gate", "5%")
	folder = t.TempDir()
	for _, commit := range strings.Fields(run("rev-list", "--reverse", "HEAD~1")) {
		keep(commit, 100)
	}
	headTime := keep(head, 120)
	keepBenchOf(t, folder, &record.Source{Commit: run("rev-parse", "HEAD~1"), Time: headTime}, headTime.Add(time.Hour), benchOf("Encode", 100))
	check("the commit before has the same time and is measured later", 3, "slower than the regime before it by 2", "leaves out", "--gate", "5%")
	keep(strings.Repeat("e", 40), 100)
	const later = "the gate leaves out the records of 1 measured commit that"
	check("another job measured a later commit", 3, later, "the gate judges", "--gate", "5%")
	shallow(true)
	check("the same in a shallow clone, which also lacks the commit before, of the same time", 3, "of 2 measured commits that", "the gate judges", "--gate", "5%")
	shallow(false)
	folder = t.TempDir()
	for _, commit := range strings.Fields(run("rev-list", "--reverse", "HEAD~1")) {
		keep(commit, 100)
	}
	keep(strings.Repeat("d", 40), 120)
	keep(head, 120)
	check("a pull request is as slow as before, when its merge was another commit", 3, "slower than the regime before it by", "leaves out", "--gate", "5%")
	folder = t.TempDir()
	run("checkout", "-q", "-b", "squashed", "HEAD~5")
	for range 5 {
		keep(commit(), 100)
	}
	run("checkout", "-q", "main")
	keep(head, 100)
	check("all that was measured is of another branch", 1, "in the history of HEAD, which lacks 5 measured commits: measure", "keep more", "--gate", "5%")
}
