package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"chronoscope/compare"
	"chronoscope/history"
	"chronoscope/internal/gitcommand"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// ofHead returns HEAD if it was measured, its measured ancestors, and the measured commits that it is not held against: those
// that its history here lacks if they are no older than HEAD, or the repository knows them and so another branch has them. A
// commit that it does not know, such as a merge for a pull request, may be of HEAD's history if it is older; so may any older
// one if the clone is shallow.
func ofHead(ctx context.Context, x history.Index) (head string, ancestors, leftOut map[string]bool) {
	measured := map[string]time.Time{}
	for _, r := range x.Records {
		if r.Source.Commit != "" {
			measured[r.Source.Commit] = r.Source.Time
		}
	}
	own := strings.Fields(git(ctx, "rev-list", "HEAD"))
	if len(own) == 0 {
		return "", nil, nil
	}
	head = own[0]
	at, is := measured[head]
	if !is {
		return "", nil, nil
	}
	ancestors, leftOut = map[string]bool{}, map[string]bool{}
	for _, commit := range own {
		if _, is := measured[commit]; is {
			ancestors[commit] = commit != head
			delete(measured, commit)
		}
	}
	var names []string
	for commit, then := range measured {
		if !then.Before(at) {
			leftOut[commit] = true
		} else if _, err := hex.DecodeString(commit); err == nil && len(commit) == len(head) {
			names = append(names, commit)
		}
	}
	if git(ctx, "rev-parse", "--is-shallow-repository") != "false" {
		return head, ancestors, leftOut
	}
	list := gitcommand.New(ctx, ".", "rev-list", "--ignore-missing", "--no-walk", "--stdin")
	list.Env = append(list.Env, "GIT_NO_LAZY_FETCH=1") // what is missing is not fetched
	list.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	if known, err := list.Output(); err == nil {
		for _, commit := range strings.Fields(string(known)) {
			if _, is := measured[commit]; is {
				leftOut[commit] = true
			}
		}
	}
	return head, ancestors, leftOut
}

// rivalsInHistory compares the newest commit with the regime before it, for each series that has a
// point of this commit. A time that is unusable there can't be told. What is missing there is no rival: a commit of another
// branch may be the one before, other arguments may have chosen less, or the benchmark was removed. What is new there can't
// have become worse.
func rivalsInHistory(d record.History, leftOut int) (all []rival) {
	var tips []record.HistorySeries
	for _, s := range d.Series {
		switch {
		case s.Better == "":
		case s.Newest == record.NewestUsable:
			tips = append(tips, s)
		case s.Newest == record.NewestUnusable && isTime(s.Quantity):
			all = append(all, unusableInHistory(s, d.NewestCommit))
		}
	}
	for _, s := range tips {
		r := rivalAtTip(s, len(tips), leftOut)
		if codeDiffered(d, s) {
			r.finding = fmt.Sprintf("%s, where the code differed from commit %.8s", r.finding, d.NewestCommit)
		}
		all = append(all, r)
	}
	for _, f := range d.Unusable {
		if s := (record.HistorySeries{Name: f.Name, Quantity: f.Quantity}); f.Newest && isTime(f.Quantity) {
			all = append(all, unusableInHistory(s, d.NewestCommit))
		}
	}
	if len(all) == 0 {
		all = append(all, unanswered("anything is worse than before", nothingAtTip(d)))
	}
	return all
}

// nothingAtTip says why no figure of the newest commit can be judged.
func nothingAtTip(d record.History) string {
	newest := newestOf(d.NewestCommit)
	if slices.ContainsFunc(d.Series, func(s record.HistorySeries) bool { return s.Better != "" && s.Newest == record.NewestNew }) {
		return "the figures at " + newest + " are new, and there is nothing before to hold them against: measure the same as before, or a commit before it"
	}
	return "no figure has a usable value at " + newest + ": keep one, or choose others"
}

// codeDiffered reports whether all values of a series at the newest commit are of code that differed from it.
func codeDiffered(d record.History, s record.HistorySeries) bool {
	differed := false
	for _, p := range s.Points {
		if r := d.Records[p.Record]; r.Commit != "" && r.Commit == d.NewestCommit {
			if !r.Modified {
				return false
			}
			differed = true
		}
	}
	return differed
}

// unusableInHistory returns the rival of a series whose value at the newest commit is unusable.
func unusableInHistory(s record.HistorySeries, commit string) rival {
	r := unanswered(questionInHistory(s), "its value at "+newestOf(commit)+" is unusable: measure it again")
	r.missing = false
	return r
}

// newestOf names what a gate judges.
func newestOf(commit string) string {
	if commit == "" {
		return "the newest record"
	}
	return "commit " + commit[:min(8, len(commit))]
}

func questionInHistory(s record.HistorySeries) string {
	return fmt.Sprintf("%s of %s is worse than before", s.Quantity, s.Name)
}

// isTime reports whether a quantity is the time of some work, of which a gate has to be told.
func isTime(quantity string) bool {
	return quantity == view.QuantityTime || quantity == view.QuantityWall
}

// rivalAtTip compares the newest commit with the regime before it, as one of the given number of comparisons. The records of
// leftOut commits count for neither.
func rivalAtTip(s record.HistorySeries, comparisons, leftOut int) rival {
	question := questionInHistory(s)
	if s.Tip == nil || s.Tip.Change.Unit != "ratio" {
		why := "there are too few records before it: keep more, then it can"
		if leftOut > 0 {
			why = fmt.Sprintf("there are too few records before it in the history of HEAD, which lacks %s: measure commits of that history", stats.Count(leftOut, "measured commit"))
		}
		if s.Tip != nil {
			why = "the values of the newest commit and of the regime before it are not all positive, so that there is no ratio: look at them"
		}
		r := unanswered(question, why)
		r.missing, r.optional = false, !isTime(s.Quantity)
		if s.Tip != nil && (s.Tip.Outcome == compare.Slower || s.Tip.Outcome == compare.Worse) {
			r.slower, r.ratio.Value = true, math.NaN()
		}
		return r
	}
	r := worseRival(s.Quantity, s.Name, s.Better, s.Tip.Change, comparisons, true)
	lo, hi := r.ratio.Lo, r.ratio.Hi
	r.slower, r.undecided, r.optional = lo > 1, lo <= 1 && hi >= 1, !isTime(s.Quantity)
	r.finding = fmt.Sprintf("%s is %s than the regime before it by %.3g %%", r.name, compare.Direction(s.Quantity, view.Lower, 1), 100*(r.ratio.Value-1))
	r.question, r.why = question, fmt.Sprintf("the interval of the ratio is %.4g to %.4g; measure the commit again at other times, such as in another job, or while the machine is calmer", lo, hi)
	return r
}
