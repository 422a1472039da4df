package view

import (
	"cmp"
	"fmt"
	"slices"

	"chronoscope/fleet"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(105, "fleet", fleetSheet,
	listing(func(d record.Fleet) []record.FleetOutlier { return d.Outliers },
		"node topic name quantity tier ratio.value ratio.lo ratio.hi false_discovery_rate outcome"), nil)

const (
	// mostOutliers is how many outliers text shows, and mostMultiples how many charts a page shows.
	mostOutliers, mostMultiples = 40, 40
)

// fleetSheet shows which machines are outliers.
func fleetSheet(d record.Fleet) *Sheet {
	s := sheet("Fleet", d.Header)
	s.WithoutHead, s.Facts = true, nil
	nodes := distinct(d.Outliers, func(o record.FleetOutlier) string { return o.Node })
	judged := where(d.Figures, func(f fleet.RankedFigure) bool { return slices.ContainsFunc(f.Tiers, fleet.Tier.Judged) })
	says := fmt.Sprintf("%s, %s each at most: ", stats.Count(len(d.Nodes), "machine"), stats.Count(len(d.Figures), "figure"))
	few := len(d.Figures) - len(judged)
	switch {
	case len(judged) == 0:
		says += "too few machines to tell which lie apart."
	case few > 0:
		says += fmt.Sprintf("none lies apart; of %s there are too few machines to tell.", stats.Count(few, "figure"))
	default:
		says += "none lies apart."
	}
	if len(nodes) > 0 {
		says = fmt.Sprintf("%d of %s lie apart, in %s; on average at most %s of these are false.",
			len(nodes), stats.Count(len(d.Nodes), "machine"), stats.Count(len(d.Outliers), "finding"), percent(d.FalseDiscoveryRate))
	}
	s.Tiles = []Tile{{Topic: "Machines that lie apart", Figure: fmt.Sprintf("%d of %d", len(nodes), len(d.Nodes)), Sentence: says}}
	s.add(Section{Lines: []Line{{Text: says, In: InText}}, In: InText}, outliers(d), tiers(d), multiples(d))
	return s
}

// outliers lists the outliers, the worst machine first.
func outliers(d record.Fleet) Section {
	t := table(words("node", "figure"), numbers("tier", "times its tier", "95 % interval"), words("outcome"))
	t.Open = true
	s := Section{Title: "Machines that lie apart", Table: t}
	for i, o := range d.Outliers {
		if i == mostOutliers {
			s.Notes = []Line{say("and %d more, which JSON and CSV hold", len(d.Outliers)-i)}
			break
		}
		_, bounds := ratio(o.Ratio)
		t.row(strong(Shortened(o.Node, mostName)), fleetFigure(o.Topic, o.Name, o.Quantity), o.Tier, fmt.Sprintf("%.3f", o.Ratio.Value), bounds, o.Outcome)
	}
	return s
}

func fleetFigure(topic, name, quantity string) string {
	return Shortened(topic+" "+name, mostName) + ", " + quantity
}

// tiers lists the groups of machines of each figure.
func tiers(d record.Fleet) Section {
	t := table(words("figure"), numbers("tier", "nodes", "median", "spread", "drift a day"))
	t.In = OnPage
	for _, f := range d.Figures {
		for i, tier := range f.Tiers {
			t.row(fleetFigure(f.Topic, f.Name, f.Quantity), i+1, tier.Nodes, inUnit(tier.Median, f.Unit), percent(tier.Spread), signed(tier.DriftPerDay.Value()))
		}
	}
	return Section{Title: "Tiers", In: OnPage, Table: t, Lead: "Groups of machines that lie together, found by the values alone. The spread is a robust standard deviation: outliers don't change it."}
}

// multiples returns a small chart for each figure, those with the most outliers first.
func multiples(d record.Fleet) Section {
	s := Section{Title: "Figures", In: OnPage,
		Lead:   "Each line is a tier: the bar holds the middle half of its machines, the thin line nine of ten, and each mark is a machine that lies apart. Figures that are the same on all machines are left out.",
		Legend: []Key{{Mark: "dot", Look: SeriesLook(1), Text: "a machine that lies apart"}}}
	figures := slices.Clone(d.Figures)
	apart := func(f fleet.RankedFigure) int {
		return len(where(f.Placed, func(p fleet.Place) bool { return p.Outlier }))
	}
	slices.SortStableFunc(figures, func(a, b fleet.RankedFigure) int { return cmp.Compare(apart(b), apart(a)) })
	for _, f := range figures[:min(len(figures), mostMultiples)] {
		s.Charts = append(s.Charts, multiple(d, f))
	}
	return s
}

// multiple returns the chart of a figure, with a row for each tier.
func multiple(d record.Fleet, f fleet.RankedFigure) Chart {
	c := Chart{Title: fleetFigure(f.Topic, f.Name, f.Quantity), Label: fleetFigure(f.Topic, f.Name, f.Quantity)}
	same, differ := 1.0, false
	for i, tier := range f.Tiers {
		row := Row{Name: inUnit(tier.Median, f.Unit), Figure: stats.Count(tier.Nodes, "node")}
		var ratios []float64
		for _, p := range f.Placed {
			if p.Tier != i || !(p.Ratio.Value > 0) {
				continue
			}
			ratios = append(ratios, p.Ratio.Value)
			if p.Outlier && p.Node >= 0 && p.Node < len(d.Nodes) {
				row.Points = append(row.Points, Point{At: p.Ratio.Value, Mark: "dot", Look: SeriesLook(1), Title: fmt.Sprintf("%s: %.3f times its tier", d.Nodes[p.Node].Name, p.Ratio.Value), Rise: scatter(len(row.Points))})
			}
		}
		if len(ratios) == 0 {
			continue
		}
		slices.Sort(ratios)
		differ = differ || ratios[0] != ratios[len(ratios)-1]
		at := func(share float64) float64 { return stats.Quantile(ratios, share) }
		row.Spans = []Span{{at(0.05), at(0.95), "thin", "nine of ten machines"}}
		row.Bars = []Span{{at(0.25), at(0.75), "box", "the middle half of the machines"}}
		c.Rows = append(c.Rows, row)
	}
	if !differ {
		return Chart{}
	}
	c.Marker = &same
	c.X = logarithmic("times the tier's median", Plain, c.xs(0.95, 1.05))
	return c
}
