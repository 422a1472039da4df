package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/compare"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// paperPrefix is the prefix of the names of built-in machines.
const paperPrefix = "paper:"

// newCompare returns the command that compares machines or runs.
func newCompare() *command {
	folder := ""
	return &command{Command: &cobra.Command{
		Use:   "compare A B ...",
		Short: "Set machines or runs side by side: what changed, by how much, and is it chance?",
		Long: `Holds each of the others against A. What is compared may be

  a file       that a command wrote with --format json, hyperfine with --export-json,
               or go test -bench
  a record     kept with --save: any part of its name that no other has, "latest" or
               "previous", the one of the same command before the latest
  ` + paperPrefix + `NAME   one of the machines of Kuperberg, Krogmann, Reussner (ICPE 2011):
               ` + strings.Join(paperNames(), ", ") + `

Clocks are compared in time and in cycles of the core, and by quality and rank. Cost and
quality are those of the least disturbed rounds, and the interval of their ratio is widened
by what the other clocks differ by: what else ran meets them all. A change of all clocks at
once can't be told from that, nor can one of fewer than six clocks. Programs and benchmarks
are compared by the ratio of their times, with its 95 % interval and, where
the single runs are known, the probability of such a difference by chance. Other tools
know wall times alone: beside them, wall times are compared. What is unusable, or in
another unit, is not compared, and the reason is given.

The exit status is 1 where there is nothing to compare. With --max-regression it is 3
where one is slower by more than the limit: the lower end of its ratio is above it, for
all rows at once with a chance of 99 %; of figures that are no times, where one is worse.
It is 1 where that can't be told of a time of A or a clock that A advises to use: it is
missing or unusable, or the ratio's interval reaches above the limit; and where nothing
else can be told. A time that failed in A is not asked for. It is also 1 where a figure is
worse but has no ratio, since one of the two values is 0: then it can't be told whether it
is worse by more than the limit.

A time may depend on the core's rate or not. If the core ran at another rate, the limit
applies to the slowdown that is certain in both cases. Times on two models of CPU can't be
judged.`,
		Example: `  chronoscope compare before.json after.json
  chronoscope compare previous latest
  chronoscope compare yesterday.json latest --max-regression 5%
  chronoscope compare hyperfine.json run.json
  chronoscope compare old.txt new.txt              lines of go test -bench
  chronoscope compare ` + paperPrefix + `MBP53 ` + paperPrefix + `MBP62  Table 1 of the paper
  chronoscope compare clocks.json ` + paperPrefix + `SAMSb  after clocks --set kuperberg2011
  chronoscope compare a.json b.json c.json --format csv -o machines.csv`,
		Args: takes(2, anyNumber, "%[1]q compares two or more, and got %[2]d: name files, records or "+paperPrefix+"NAME"),
	},
		flags: func(set *pflag.FlagSet, _ *flags) {
			set.StringVar(&folder, "folder", "", "look for records in this `folder`, or in git or git:BRANCH (default: in the folder of --save)")
		},
		measuresNothing: true,
		regressions:     "exit with 3 if something is slower or worse than A by more than this `share`, such as 5%",
		measure:         func(ctx context.Context, c *call) (found, error) { return compareRecords(ctx, c, folder) },
	}
}

func paperNames() (names []string) {
	for _, m := range record.PublishedMachines {
		names = append(names, m.Name)
	}
	return names
}

// compareRecords reads and compares records.
func compareRecords(ctx context.Context, c *call, folder string) (found, error) {
	c.header.Caveats = []string{} // those of this machine don't apply to what is compared
	subjects, err := subjectsOf(ctx, c.args, folder)
	if err != nil {
		return found{}, err
	}
	d, err := compare.Subjects(c.finish(ctx), subjects)
	if err != nil {
		return found{}, fmt.Errorf("%w: name records of one command, with figures", err)
	}
	return judged(d), nil
}

// subjectsOf reads the documents to compare.
func subjectsOf(ctx context.Context, names []string, folder string) ([]compare.Subject, error) {
	var subjects []compare.Subject
	var labels []string
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d, err := openSubject(name, folder)
		if err != nil {
			return nil, err
		}
		label := unlike(labelOf(name, d), labels)
		labels = append(labels, label)
		subjects = append(subjects, compare.Subject{Name: label, Document: d})
	}
	return subjects, nil
}

func openSubject(name, folder string) (record.Document, error) {
	if machine, isPaper := strings.CutPrefix(name, paperPrefix); isPaper {
		d, ok := record.Published(machine)
		if !ok {
			return nil, usagef("%s: no machine of the paper is called %q: use one of %s", name, machine, strings.Join(paperNames(), ", "))
		}
		return d, nil
	}
	if isFile(name) {
		return importFile(name)
	}
	return openRecord(folder, name)
}

// importFile reads a record, or another tool's file.
func importFile(name string) (record.Document, error) {
	f, err := record.OpenRegular(name)
	if err != nil {
		return nil, fmt.Errorf("reading what is to be compared: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading what is to be compared: %w", err)
	}
	d, err := record.Import(f, info.ModTime())
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return d, nil
}

// isFile reports whether there is a file of that name that is not a folder.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// keptName matches the name of a record in an archive: time, machine, command and a random part.
var keptName = regexp.MustCompile(`^([0-9]{8}T[0-9]{6})\.[0-9]+Z-(.*)-[a-z]+-[0-9a-f]{12}(\.json)?$`)

// labelOf returns a short name for a subject.
func labelOf(name string, d record.Document) string {
	if name == record.Latest {
		return d.Head().Started.UTC().Format("20060102T150405")
	}
	label := strings.TrimPrefix(filepath.Base(name), paperPrefix)
	if parts := keptName.FindStringSubmatch(label); parts != nil {
		return parts[1] + " " + parts[2]
	}
	return strings.TrimSuffix(label, filepath.Ext(label))
}

// unlike returns a name that differs from all others.
func unlike(label string, others []string) string {
	unique := label
	for n := 2; slices.Contains(others, unique); n++ {
		unique = fmt.Sprintf("%s (%d)", label, n)
	}
	return unique
}

// judged returns a comparison with the values that limits apply to.
func judged(d record.Comparison) found {
	comparisons := 0
	for _, r := range d.Rows {
		for _, c := range r.Changes {
			if c != nil && canBeWorse(r, c) {
				comparisons++
			}
		}
	}
	r := found{document: d}
	isComparable := false
	advised := clocksAdvised(d.Rows)
	for _, row := range d.Rows {
		for i, c := range row.Changes {
			isComparable = isComparable || c != nil && c.Outcome != compare.Incomparable
			if one, ok := rivalIn(row, c, d.Subjects[0], d.Subjects[1+i], comparisons, hasToBeTold(row, advised)); ok {
				if isOfWork(row) {
					one.allowFor(speedsOf(d.Origins[0].Machine, d.Origins[1+i].Machine))
				}
				r.rivals = append(r.rivals, one)
			}
		}
	}
	if !isComparable {
		r.failed = fmt.Errorf("nothing that %s holds could be compared: %s: name records of the same programs, benchmarks or clocks, measured in the same way", d.Subjects[0], whyIncomparable(d))
	}
	return r
}

// whyIncomparable returns the first reason why values could not be compared.
func whyIncomparable(d record.Comparison) string {
	for _, row := range d.Rows {
		for _, c := range row.Changes {
			if c != nil && len(c.Reasons) > 0 {
				return c.Reasons[0]
			}
		}
	}
	return "the others lack it"
}

// canBeWorse reports whether a limit applies to a change: the quantity must have a better
// direction. Ranks and the best clocks are left out: they follow from the clocks' qualities, and
// the best clock may be a different one in the other ranking.
func canBeWorse(r record.ComparisonRow, c *record.ComparisonChange) bool {
	return r.Better != "" && r.Quantity != "rank" && r.Topic != view.TopicBest && c.Outcome != compare.Incomparable
}

// rivalIn compares a value of another subject with that of the first one. comparisons is the number of comparisons that
// the gate makes. needed says that the gate fails if this one is undecided. The result is false if the values can't be
// compared and needed is false.
func rivalIn(r record.ComparisonRow, c *record.ComparisonChange, first, other string, comparisons int, needed bool) (rival, bool) {
	question := fmt.Sprintf("%s of %s is worse in %s than in %s", r.Quantity, r.Name, other, first)
	if c == nil || c.Outcome == compare.Incomparable {
		return unanswered(question, whyNot(c)), needed
	}
	one := worseRival(r.Quantity, r.Name, r.Better, c.Ratio, comparisons, canBeWorse(r, c) && c.Outcome != compare.Same)
	one.slower, one.undecided = r.Quantity != "rank" && (c.Outcome == compare.Slower || c.Outcome == compare.Worse), c.Outcome == compare.Undecided
	one.optional, one.question, one.why = !needed, question, whyNotTold(r, c)
	one.finding = fmt.Sprintf("%s is %s in %s than in %s by %.3g %%", one.name, c.Outcome, other, first, 100*(one.ratio.Value-1))
	return one, true
}

// isOfWork reports whether a row has times of work that a faster core does faster. The interval of a clock's figures allows
// for the core's rate already, by what the other clocks differ by.
func isOfWork(r record.ComparisonRow) bool {
	return r.Topic != view.TopicEvent && (isTime(r.Quantity) || r.Quantity == view.QuantityCPU)
}

// speeds says how much the rates of the cores differ, on which two subjects were measured.
type speeds struct {
	slower float64 // the first core's rate over the other's: above 1 if the other one is slower; infinite if not known
	why    string  // why the change of a time can't be told; empty if the rates are equal or one is not known
}

// sameSpeed is the largest difference of two rates, as a share, that counts as none.
const sameSpeed = 0.01

// speedsOf compares the cores of two machines. Where records don't say what they are, nothing is known to differ.
func speedsOf(a, b *machine.Machine) speeds {
	switch {
	case a == nil || b == nil:
		return speeds{slower: 1}
	case a.CPU != "" && b.CPU != "" && a.CPU != b.CPU:
		return speeds{math.Inf(1), fmt.Sprintf("they were measured on different CPUs, %s and %s: measure both on one", a.CPU, b.CPU)}
	case a.CoreHz == nil || b.CoreHz == nil:
		return speeds{slower: 1}
	}
	s := speeds{slower: *a.CoreHz / *b.CoreHz}
	if math.Abs(math.Log(s.slower)) > sameSpeed {
		s.why = fmt.Sprintf("the core ran at %.3g GHz, and then at %.3g: measure both in turn, or at one rate", *a.CoreHz/1e9, *b.CoreHz/1e9)
	}
	return s
}

// allowFor widens the bounds of a ratio of times, since the work may depend on the core's rate or not. The ratio that
// two cores of the same rate would show lies between these two cases.
func (r *rival) allowFor(s speeds) {
	least, most := 1/max(1, s.slower), max(1, 1/s.slower)
	if math.IsInf(s.slower, 1) { // either may be the faster one
		most = s.slower
	}
	r.ratio.Lo, r.ratio.Hi, r.joint.Lo = r.ratio.Lo*least, r.ratio.Hi*most, r.joint.Lo*least
	if s.why != "" && !r.missing {
		r.slower, r.undecided, r.why = r.slower && r.ratio.Lo > 1, true, s.why
	}
}

// clocksAdvised returns the clocks that the first subject recommends.
func clocksAdvised(rows []record.ComparisonRow) (names []string) {
	for _, r := range rows {
		if r.Topic == view.TopicBest && r.Values[0] != nil {
			names = append(names, r.Values[0].Of)
		}
	}
	return names
}

// hasToBeTold reports whether the gate fails if this row is undecided. That is so for the time of the first
// subject's work, and for the clocks that it recommends. The other figures follow from these, have no interval,
// or belong to clocks that need not be used. Nothing can be worse than a value that the first subject lacks, for
// example because it failed there.
func hasToBeTold(r record.ComparisonRow, advised []string) bool {
	ofClock := r.Topic == view.TopicClock && slices.Contains([]string{"quality", "accuracy", "cost"}, r.Quantity)
	return r.Values[0] != nil && stats.IsFinite(r.Values[0].Estimate.Value) && (isTime(r.Quantity) || ofClock && slices.Contains(advised, r.Name))
}

// whyNotTold says why a change of a clock is undecided; for other rows their intervals say it.
func whyNotTold(r record.ComparisonRow, c *record.ComparisonChange) string {
	if r.Topic != view.TopicClock || len(c.Reasons) == 0 {
		return ""
	}
	why := strings.Join(c.Reasons, "; ")
	if stats.IsFinite(c.Ratio.Hi) {
		why = fmt.Sprintf("the interval of the ratio is %.4g to %.4g; %s", c.Ratio.Lo, c.Ratio.Hi, why)
	}
	return why
}

func whyNot(c *record.ComparisonChange) string {
	if c == nil {
		return "it was not measured there"
	}
	return strings.Join(c.Reasons, "; ")
}
