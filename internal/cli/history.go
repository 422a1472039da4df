package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/history"
	"chronoscope/internal/gitcommand"
	"chronoscope/record"
	"chronoscope/record/gitarchive"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/view"
)

// historyFlags are the flags of history.
type historyFlags struct {
	store, since, bench, machine, commitURL string
	byGo                                    bool
	filter                                  history.Filter
}

// newHistory returns the command that shows how figures changed over many records.
func newHistory() *command {
	t := &historyFlags{}
	c := &command{Command: &cobra.Command{
		Use:   "history",
		Short: "Show how figures went over many records, and where they changed",
		Long: `Makes a series of each figure in the records that --save has kept: time and other metrics
of each benchmark, time of each command, cost and quality of each clock, share of noise.
Points stand in the order of their commits, or else of when they were measured. Figures of
another CPU model, kernel (its first two numbers), hypervisor or clock source are a series
of their own: a new machine is no regression.

A change is where the level of a series moved beyond what its noise can do, however long
that noise lasts. Each has the range of commits that it came with, its size with a 95 %
interval, and the chance that a series without any change would show it: at most 1 in
10,000, and of the changes of all series at most 1 % are false. A regime lasts for nine
records or more. The newest commit alone is held against the regime before it.

Records live in a folder, or in a branch of the git repository here (--store git, as
--save=git keeps them): "history sync" joins that branch with the one of a remote
repository. "history import" keeps what other tools measured.

With --gate the exit status is 3 where the newest commit is slower or worse than the regime
before it by more than the limit, with a chance of 99 % for all series at once. It is 1
where that can't be told of a time, also if the time's value at the newest commit is
unusable: a time that failed is. A series without a result of the newest commit is not
judged; a caveat names the times that the commit before has. If HEAD was measured, it is the
newest commit: later commits are left out, and, unless the clone is shallow, others that the
clone knows and HEAD's history lacks.`,
		Example: `  chronoscope bench ./... --save=git           measure, and keep the result in git
  chronoscope history --store git              series and changes
  chronoscope history --bench 'Encode|Decode' --since 2026-09-01
  chronoscope history --html history.html
  chronoscope history --gate 5%
  chronoscope history --export parquet:history.parquet
  chronoscope history sync origin`,
		Args: takes(0, 0, "%[1]q has no command %[4]q: use import and sync"),
	},
		flags: t.register, check: t.check, measure: t.measure, measuresNothing: true,
		gateFlag: "gate", regressions: "exit with 3 if the newest commit is slower or worse than the regime before it by more than this `share`, such as 5%",
		exports: map[string]string{"parquet": "which DuckDB, pandas and Spark read", "csv": "", "jsonl": ""},
		sub: []*command{
			{Command: &cobra.Command{
				Use:   "import FILE ...",
				Short: "Keep what other tools measured as records",
				Long: `Reads files and keeps what they hold as records: the data.js of github-action-benchmark,
result files of asv, the JSON of hyperfine --export-json, and lines of go test -bench
(benchstat's format). What is kept already, with the same commit and time, is passed over.
Then it shows the history.`,
				Example: `  chronoscope history import --store records data.js
  chronoscope history import results/machine/*.json old.txt`,
				Args: takes(1, anyNumber, "%[1]q keeps what is in files: name one or more"),
			}, measure: t.importFiles},
			{Command: &cobra.Command{
				Use:   "sync [REMOTE]",
				Short: "Join the branch of records with that of a remote repository",
				Long: `Joins the branch of records here (chronoscope-records, or that of --store git:BRANCH) with
the same branch of REMOTE, origin if none is named, and shows the history.`,
				Example: "  chronoscope history sync origin",
				Args:    takes(0, 1, "%[1]q takes the name of one remote repository, and got %[3]q"),
			}, measure: t.sync},
		}}
	c.PersistentFlags().StringVar(&t.store, "store", "", "where the records are: a `folder`, git, or git:BRANCH (default: the folder of --save; of sync, git)")
	return c
}

func (t *historyFlags) register(set *pflag.FlagSet, _ *flags) {
	set.StringVar(&t.since, "since", "", "leave out what is older than this `date` or duration, such as 2026-09-01 or 90d")
	set.StringVar(&t.bench, "bench", "", "show only figures whose names match this `regexp`")
	set.StringVar(&t.machine, "machine", "", "show only machines whose CPU, kernel, hypervisor or clock source match this `regexp`")
	set.BoolVar(&t.byGo, "by-go", false, "begin a series of its own with each version of Go, too")
	set.StringVar(&t.commitURL, "commit-url", "", "`address` of a commit's page, with {commit} for its name (default: of the remote repository origin)")
}

// check reads the filter.
func (t *historyFlags) check(c *call) (err error) {
	if t.filter.Since, err = sinceOf(t.since); err != nil {
		return err
	}
	for _, p := range []struct {
		flag, text string
		to         **regexp.Regexp
	}{{"--bench", t.bench, &t.filter.Name}, {"--machine", t.machine, &t.filter.Machine}} {
		if p.text == "" {
			continue
		}
		if *p.to, err = regexp.Compile(p.text); err != nil {
			return usagef("%s: %q is no regular expression (go doc regexp/syntax): %v", p.flag, p.text, err)
		}
	}
	switch isWeb := strings.HasPrefix(t.commitURL, "https://") || strings.HasPrefix(t.commitURL, "http://"); {
	case t.commitURL != "" && !isWeb:
		return usagef("--commit-url: %q is no address of a web page: begin it with https://", t.commitURL)
	case isWeb && !strings.Contains(t.commitURL, "{commit}"):
		return usagef("--commit-url: %q does not say where the commit's name stands: write {commit} there", t.commitURL)
	}
	t.filter.ByGo = t.byGo
	return nil
}

// sinceOf returns the time of a date, or the time that lies a duration before now.
func sinceOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	var days float64
	var end string
	if n, _ := fmt.Sscanf(text, "%f%s", &days, &end); n == 2 && end == "d" && days >= 0 && days < 1e5 {
		return time.Now().Add(-time.Duration(days * float64(24*time.Hour))), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	return time.Time{}, usagef("--since: %q is neither a date such as 2026-09-01 nor a duration such as 90d or 12h", text)
}

// measure opens the index, and makes series from it.
func (t *historyFlags) measure(ctx context.Context, c *call) (found, error) {
	store, err := storeIn(t.store)
	if err != nil {
		return found{}, err
	}
	index, _, err := history.Open(store)
	if err != nil {
		return found{}, err
	}
	c.header.Caveats = []string{} // those of this machine don't apply to the records
	isGate := !math.IsNaN(c.mostRegression)
	if isGate {
		t.filter.Head, t.filter.Ancestors, t.filter.LeftOut = ofHead(ctx, index)
	}
	d := history.Of(c.finish(ctx), index, t.filter)
	d.Store = store.Place()
	if d.CommitURL = t.commitURL; d.CommitURL == "" {
		d.CommitURL = commitURLOf(git(ctx, "remote", "get-url", "origin"))
	}
	d.Caveats = append(d.Caveats, caveatsOfHistory(ctx, d, isGate)...)
	if n := len(t.filter.LeftOut); n > 0 {
		d.Caveats = append(d.Caveats, fmt.Sprintf("the gate leaves out the records of %s that the history of HEAD lacks", stats.Count(n, "measured commit")))
	}
	if len(index.Records) == 0 {
		fmt.Fprintf(c.notes, "chronoscope: there are no records yet: give %s to a command that measures\n", savesIn(t.store))
	}
	rows := func(write func(io.Writer, []history.Row) error) func(io.Writer) error {
		return func(w io.Writer) error { return write(w, history.Rows(d)) }
	}
	return found{document: d, rivals: rivalsInHistory(d, len(t.filter.LeftOut)), exports: map[string]func(io.Writer) error{
		"csv":   rows(func(w io.Writer, all []history.Row) error { return render.Table(w, history.Fields(all)) }),
		"jsonl": rows(history.WriteJSONLines),
		"parquet": rows(func(w io.Writer, all []history.Row) error {
			return parquet.Write(w, all, parquet.Compression(&parquet.Snappy))
		}),
	}}, nil
}

// git returns the output of a git command on the repository around the working folder; empty if it fails.
func git(ctx context.Context, args ...string) string {
	out, err := gitcommand.New(ctx, ".", args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// secureShell matches a repository's address of the form git@HOST:PATH.
var secureShell = regexp.MustCompile(`^(?:ssh://)?git@([A-Za-z0-9.-]+)[:/](.+)$`)

// commitURLOf returns the address of a commit's page, in the form of the usual hosts, for the
// address of a repository; empty if that is no web page.
func commitURLOf(remote string) string {
	if parts := secureShell.FindStringSubmatch(remote); parts != nil {
		remote = "https://" + parts[1] + "/" + parts[2]
	}
	if !strings.HasPrefix(remote, "https://") || strings.Contains(remote, "@") {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(remote, "/"), ".git") + "/commit/{commit}"
}

// caveatsOfHistory says which records can't be read, which commits are not in the history of the
// commit that is checked out, and, of a gate, whether it judges another commit and what it can't judge.
func caveatsOfHistory(ctx context.Context, d record.History, isGate bool) (caveats []string) {
	if n := len(d.Unreadable); n > 0 {
		caveats = append(caveats, fmt.Sprintf("%s can't be read, and all others are shown: %s: %s", stats.Count(n, "record"), d.Unreadable[0].Name, d.Unreadable[0].Error))
	}
	var unusable []string
	for _, f := range d.Unusable {
		unusable = append(unusable, f.Quantity+" of "+f.Name)
	}
	if len(unusable) > 0 {
		caveats = append(caveats, "not shown, since all values are unusable: "+listed(unusable))
	}
	known := strings.Fields(git(ctx, "rev-list", "HEAD"))
	if isGate && d.NewestCommit != "" && len(known) > 0 && known[0] != d.NewestCommit {
		caveats = append(caveats, fmt.Sprintf("the gate judges commit %.8s, the newest one with records: HEAD is %.8s", d.NewestCommit, known[0]))
	}
	for _, unjudged := range []struct{ newest, why string }{
		{record.NewestNew, "no record before commit %.8s has them"}, {record.NewestMissing, "they are missing at commit %.8s but not at the commit before"},
	} {
		var names []string
		for _, s := range d.Series {
			if s.Newest == unjudged.newest && s.Better != "" && isTime(s.Quantity) {
				names = append(names, s.Quantity+" of "+s.Name)
			}
		}
		if isGate && len(names) > 0 {
			caveats = append(caveats, fmt.Sprintf("not judged, since "+unjudged.why+": %s", d.NewestCommit, listed(slices.Compact(names))))
		}
	}
	if isGate {
		var names []string
		for _, s := range d.Series {
			if s.Newest == record.NewestUsable && s.Better != "" && codeDiffered(d, s) {
				names = append(names, s.Quantity+" of "+s.Name)
			}
		}
		if len(names) > 0 {
			caveats = append(caveats, fmt.Sprintf("the gate judges code that differed from commit %.8s, as no record of that code itself has these: %s", d.NewestCommit, listed(names)))
		}
	}
	slices.Sort(known)
	elsewhere := map[string]bool{}
	modified := 0
	for _, r := range d.Records {
		if _, is := slices.BinarySearch(known, r.Commit); r.Commit != "" && len(known) > 0 && !is {
			elsewhere[r.Commit] = true
		}
		if r.Modified {
			modified++
		}
	}
	if n := len(elsewhere); n > 0 {
		why := "rebased away, or of another branch or repository"
		if git(ctx, "rev-parse", "--is-shallow-repository") == "true" {
			why = "this clone is shallow, or they were rebased away, or are of another branch"
		}
		caveats = append(caveats, fmt.Sprintf("not in the history of HEAD (%s): %s; points stand by the times of their commits", why, stats.Count(n, "measured commit")))
	}
	if modified > 0 {
		caveats = append(caveats, fmt.Sprintf("%s of code that differed from its commit, marked with +", stats.Count(modified, "record")))
	}
	return caveats
}

// importFiles keeps the measurements in other tools' files.
func (t *historyFlags) importFiles(ctx context.Context, c *call) (found, error) {
	store, err := storeIn(t.store)
	if err != nil {
		return found{}, err
	}
	index, _, err := history.Open(store)
	if err != nil {
		return found{}, err
	}
	kept := map[history.Identity]bool{}
	for _, id := range index.Identities() {
		kept[id] = true
	}
	added, passed := 0, 0
	for _, file := range c.args {
		documents, err := importedFrom(file)
		if err != nil {
			return found{}, err
		}
		said := map[string]bool{}
		for _, d := range documents {
			for _, what := range record.PassedOver(d) {
				if !said[what] {
					said[what] = true
					fmt.Fprintf(c.notes, "chronoscope: %s: passed over: %s\n", file, view.OneLine(what))
				}
			}
			id := history.IdentityOf(d)
			if kept[id] {
				passed++
				continue
			}
			if _, err := store.Keep(d); err != nil {
				return found{}, fmt.Errorf("after %s were kept: %w", stats.Count(added, "record"), err)
			}
			kept[id] = true
			added++
			if ctx.Err() != nil {
				return found{}, ctx.Err()
			}
		}
	}
	fmt.Fprintf(c.notes, "chronoscope: %s kept in %s, %d passed over that are there already\n", stats.Count(added, "record"), store.Place(), passed)
	return t.measure(ctx, c)
}

// importedFrom returns the documents in a file.
func importedFrom(file string) ([]record.Document, error) {
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() <= record.MostBytes {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading what is to be imported: %w", err)
		}
		if documents, known, err := record.ImportSeries(data); known {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Clean(file), err)
			}
			return documents, nil
		}
	}
	d, err := importFile(file)
	return []record.Document{d}, err
}

// sync synchronises the branch of records with that of a remote repository.
func (t *historyFlags) sync(ctx context.Context, c *call) (found, error) {
	place := t.store
	if place == "" {
		place = inGit
	}
	store, err := storeIn(place)
	if err != nil {
		return found{}, err
	}
	archive, isGit := store.(gitarchive.Archive)
	if !isGit {
		return found{}, usagef("sync: %s is a folder: only records in git have a remote repository: give --store git", place)
	}
	remote := "origin"
	if len(c.args) > 0 {
		remote = c.args[0]
	}
	archive.Context = ctx
	if err := archive.Sync(remote); err != nil {
		return found{}, err
	}
	fmt.Fprintf(c.notes, "chronoscope: %s and that of %s have the same records\n", archive.Place(), remote)
	t.store = place
	return t.measure(ctx, c)
}
