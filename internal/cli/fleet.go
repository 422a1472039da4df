package cli

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"chronoscope/fleet"
	"chronoscope/history"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// newFleet returns the command that ranks the machines of a fleet.
func newFleet() *command {
	folder, rate := "", ""
	return &command{Command: &cobra.Command{
		Use:   "fleet RECORD ...",
		Short: "Say which machines of many are not like the others",
		Long: `Compares machines by records of one command, one record for each machine: files written
with --format json, folders of such files, or records kept with --save.

Each figure is looked at by itself. Machines whose values lie together are a tier, such as
those of one CPU model; a tier has at least five machines and a twentieth of all. A drift
over the time of the records is taken off if it is significant. A machine is an outlier if
it is farther from its tier's median than healthy machines are, by a t distribution that
fits the tiers. Of all outliers named, 1 % are false on average (--false-discoveries); more
with few machines, or where a few vary far more than the others. Left out, and listed:
unusable values; values of 0 or less if other machines have more; records in a folder that
can't be read.

The exit status does not depend on what was found.`,
		Example: `  chronoscope fleet records/*.json
  chronoscope fleet records/ --html fleet.html
  chronoscope fleet records/ --format csv | sort -t, -k6 -n`,
		Args: takes(1, anyNumber, "%[1]q ranks records: name files or folders"),
	}, measuresNothing: true,
		flags: func(set *pflag.FlagSet, _ *flags) {
			set.StringVar(&folder, "folder", "", "look for records in this `folder`, or in git or git:BRANCH (default: in the folder of --save)")
			set.StringVar(&rate, "false-discoveries", "1%", "`share` of the outliers named that may be false, on average")
		},
		measure: func(ctx context.Context, c *call) (found, error) {
			share, err := falseDiscoveries(rate)
			if err != nil {
				return found{}, err
			}
			return rankFleet(ctx, c, folder, share)
		}}
}

func falseDiscoveries(text string) (float64, error) {
	share, err := parseShare(text)
	if err != nil || !(share > 0 && share < 1) {
		return 0, usagef("--false-discoveries: %.40q is not a share: give more than 0 and less than 100%%", text)
	}
	return share, nil
}

// rankFleet reads the records and ranks their machines.
func rankFleet(ctx context.Context, c *call, folder string, rate float64) (found, error) {
	names, documents, unreadable, err := openAll(ctx, c.args, folder)
	if err != nil {
		return found{}, err
	}
	d := record.Fleet{Of: documents[0].Head().Command, Nodes: []record.FleetNode{}, Outliers: []record.FleetOutlier{}}
	var labels []string
	for i, document := range documents {
		h := document.Head()
		if h.Command != d.Of {
			return found{}, fmt.Errorf("%s is of %q, and %s of %q: name records of one command", names[i], h.Command, names[0], d.Of)
		}
		labels = append(labels, labelOf(names[i], document))
		node := record.FleetNode{Started: h.Started, Machine: "unknown machine"}
		if h.Machine != nil {
			node.Machine = history.TierOf(h.Machine).String()
		}
		d.Nodes = append(d.Nodes, node)
	}
	for i, label := range numbered(labels) {
		d.Nodes[i].Name = label
	}
	figures, unusable, zeros := fleetFigures(documents)
	d.Ranking = fleet.Rank(figures, rate)
	if len(d.Figures) == 0 {
		return found{}, fmt.Errorf("no figure of %q can be ranked: name records of clocks, run, bench, or another command that measures", d.Of)
	}
	d.Outliers = outliersOf(d)
	c.header.Caveats = []string{} // those of this machine don't apply to the others
	for node, names := range unusable {
		if len(names) > 0 {
			first := names[:min(len(names), mostUnusable)]
			more := ""
			if n := len(names) - len(first); n > 0 {
				more = fmt.Sprintf(" and %d more", n)
			}
			c.caveat("%s is ranked without %s, unusable there: %s%s", d.Nodes[node].Name, stats.Count(len(names), "figure"), strings.Join(first, ", "), more)
		}
	}
	for i, f := range figures {
		if len(zeros[i]) > 0 {
			c.caveat("%s", zerosInWords(d.Nodes, f, zeros[i]))
		}
	}
	for _, err := range unreadable {
		c.caveat("left out: %v", err)
	}
	d.Header = c.finish(ctx)
	return found{document: d}, nil
}

// zerosInWords says on which machines a figure is not judged since it is not above 0, or on which others it is, if these are
// fewer.
func zerosInWords(nodes []record.FleetNode, f fleet.Figure, zeros []int) string {
	says, which := "0 or less, and not judged,", zeros
	if len(f.Values) < len(zeros) {
		says, which = "above 0", nil
		for _, v := range f.Values {
			which = append(which, v.Node)
		}
	}
	var named []string
	for _, node := range which[:min(len(which), mostUnusable)] {
		named = append(named, nodes[node].Name)
	}
	if n := len(which) - len(named); n > 0 {
		named = append(named, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("%s of %s is %s on %d of %s: %s", f.Quantity, f.Name, says, len(which), stats.Count(len(f.Values)+len(zeros), "machine"), strings.Join(named, ", "))
}

// filesIn replaces folders by the JSON files in them.
func filesIn(names []string) (all []string) {
	for _, name := range names {
		inside, _ := fs.Glob(os.DirFS(name), "*.json") // of a folder; the pattern is right
		if len(inside) == 0 {
			all = append(all, name)
		}
		for _, file := range inside {
			all = append(all, filepath.Join(name, file))
		}
	}
	return all
}

// openAll reads the records of the given names, several at the same time. A record that can't be read is an error if it is
// named, but not if it is only one of those in a folder.
func openAll(ctx context.Context, given []string, folder string) (names []string, documents []record.Document, unreadable []error, err error) {
	all := filesIn(given)
	opened, errs := make([]record.Document, len(all)), make([]error, len(all))
	var readers errgroup.Group
	readers.SetLimit(4)
	for i, name := range all {
		readers.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				opened[i], errs[i] = openSubject(name, folder)
			}
			return nil
		})
	}
	_ = readers.Wait()
	for i, name := range all {
		switch {
		case errs[i] == nil:
			names, documents = append(names, name), append(documents, opened[i])
		case ctx.Err() != nil || slices.Contains(given, name):
			return nil, nil, nil, errs[i] // the first name's, whichever was read first
		default:
			unreadable = append(unreadable, errs[i])
		}
	}
	if len(documents) == 0 {
		return nil, nil, nil, unreadable[0]
	}
	return names, documents, unreadable, nil
}

// numbered adds a number to each label that appeared before.
func numbered(labels []string) []string {
	seen := map[string]bool{}
	for i, label := range labels {
		for n := 2; seen[labels[i]]; n++ {
			labels[i] = fmt.Sprintf("%s (%d)", label, n)
		}
		seen[labels[i]] = true
	}
	return labels
}

// mostUnusable is how many figures of a node are named that are left out as unusable, and how many nodes on which a figure is 0.
const mostUnusable = 5

// fleetFigures collects the figures of all documents, in the order in which they first appear. It
// leaves out unusable values, and values in another unit than the first one. The work is part of a figure's name.
// unusable has the names of the figures of each document that are left out as unusable, and zeros the documents in which each
// figure is 0 or less.
func fleetFigures(documents []record.Document) (all []fleet.Figure, unusable [][]string, zeros [][]int) {
	unusable = make([][]string, len(documents))
	withZero := map[view.FigureKey][]int{}
	places := map[view.FigureKey]int{}
	for node, d := range documents {
		at := float64(d.Head().Started.UnixNano()) / 1e9
		for _, f := range view.FiguresOf(d) {
			e := f.Estimate
			if f.Work != "" {
				f.Name += " (" + f.Work + ")"
			}
			if f.Verdict == stats.Unusable && f.StandIn == "" {
				unusable[node] = append(unusable[node], strings.TrimSpace(f.Name+" "+f.Quantity))
			}
			if f.Verdict == stats.Unusable || f.StandIn != "" {
				continue
			}
			if !(e.Value > 0) {
				if e.Value <= 0 {
					withZero[f.FigureKey] = append(withZero[f.FigureKey], node)
				}
				continue
			}
			place, known := places[f.FigureKey]
			if !known {
				place = len(all)
				places[f.FigureKey] = place
				all = append(all, fleet.Figure{Topic: f.Topic, Name: f.Name, Quantity: f.Quantity, Unit: e.Unit, Better: f.Better})
			}
			if all[place].Unit == e.Unit {
				all[place].Values = append(all[place].Values, fleet.Value{Node: node, At: at, Value: e.Value, Lo: e.Lo, Hi: e.Hi})
			}
		}
	}
	zeros = make([][]int, len(all))
	for key, place := range places {
		zeros[place] = withZero[key]
	}
	return all, unusable, zeros
}

// outliersOf lists the outliers: the machine with the most of them first, and the largest difference
// of each machine first.
func outliersOf(d record.Fleet) []record.FleetOutlier {
	byNode := map[int][]record.FleetOutlier{}
	for _, f := range d.Figures {
		for _, p := range f.Placed {
			if p.Outlier {
				byNode[p.Node] = append(byNode[p.Node], record.FleetOutlier{
					Node: d.Nodes[p.Node].Name, Topic: f.Topic, Name: f.Name, Quantity: f.Quantity,
					Tier: p.Tier + 1, Ratio: p.Ratio, Rate: p.Rate, Outcome: outcomeOf(f.Better, p.Ratio.Value),
				})
			}
		}
	}
	size := func(o record.FleetOutlier) float64 { return math.Abs(math.Log(o.Ratio.Value)) }
	for _, all := range byNode {
		slices.SortStableFunc(all, func(a, b record.FleetOutlier) int { return cmp.Compare(size(b), size(a)) })
	}
	nodes := slices.SortedFunc(maps.Keys(byNode), func(a, b int) int {
		return cmp.Or(cmp.Compare(len(byNode[b]), len(byNode[a])), cmp.Compare(size(byNode[b][0]), size(byNode[a][0])), cmp.Compare(a, b))
	})
	all := []record.FleetOutlier{}
	for _, node := range nodes {
		all = append(all, byNode[node]...)
	}
	return all
}

// outcomeOf returns whether a value with this ratio to the tier's is worse or better, or only differs.
func outcomeOf(better string, ratio float64) string {
	switch {
	case better == "":
		return "differs"
	case (better == view.Lower) == (ratio > 1):
		return "worse"
	}
	return "better"
}
