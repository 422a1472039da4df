package compare

import (
	"slices"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// joined is a row without its changes: the figures of all subjects with the same key, nil for a
// subject without one.
type joined struct {
	view.FigureKey
	figures []*view.Figure
}

// join puts figures with the same key into one row, in the order of the first subject, followed by
// the figures that only later subjects have.
func join(all [][]view.Figure) []*joined {
	var rows []*joined
	place := map[view.FigureKey]*joined{}
	for i, figures := range all {
		for _, f := range figures {
			row := place[f.FigureKey]
			if row == nil {
				row = &joined{f.FigureKey, make([]*view.Figure, len(all))}
				place[f.FigureKey] = row
				rows = append(rows, row)
			}
			if row.figures[i] == nil { // the first of figures with the same key
				row.figures[i] = &f
			}
		}
	}
	return rows
}

// known returns how many subjects know the value of the figure.
func (j *joined) known() (n int) {
	for _, f := range j.figures {
		if f != nil && stats.IsFinite(f.Estimate.Value) {
			n++
		}
	}
	return n
}

// one returns the figure of the first subject that has it.
func (j *joined) one() *view.Figure {
	for _, f := range j.figures {
		if f != nil {
			return f
		}
	}
	return nil
}

// withoutStandIns drops a quantity or its stand-in: whichever fewer subjects know, or the
// stand-in if equally many know both.
func withoutStandIns(rows []*joined) []*joined {
	place := map[view.FigureKey]*joined{}
	for _, r := range rows {
		place[r.FigureKey] = r
	}
	drop := map[*joined]bool{}
	for _, r := range rows {
		standIn := r.one().StandIn
		if of := place[view.FigureKey{Topic: r.Topic, Name: r.Name, Quantity: standIn}]; standIn != "" && of != nil {
			if r.known() > of.known() {
				drop[of] = true
			} else {
				drop[r] = true
			}
		}
	}
	return slices.DeleteFunc(rows, func(r *joined) bool { return drop[r] })
}

// row compares each subject's figure with the first one's. The scatters are those of the subjects
// after the first.
func (j *joined) row(scatters []scatter) record.ComparisonRow {
	f := j.one()
	r := record.ComparisonRow{
		Topic: j.Topic, Name: j.Name, Quantity: j.Quantity, Unit: f.Estimate.Unit, Better: f.Better,
		Values: []*record.ComparisonValue{}, Changes: []*record.ComparisonChange{},
	}
	for i, f := range j.figures {
		if f == nil {
			r.Values = append(r.Values, nil)
		} else {
			r.Values = append(r.Values, &f.ComparisonValue)
		}
		if i > 0 {
			r.Changes = append(r.Changes, changeOf(j.figures[0], f, scatters[i-1], samplesTested(len(j.figures))))
		}
	}
	finish(&r)
	return r
}

// finish sets the row's Change and Outcome to those of its last subject.
func finish(r *record.ComparisonRow) {
	if len(r.Changes) == 0 {
		return
	}
	if last := r.Changes[len(r.Changes)-1]; last != nil {
		r.Outcome = last.Outcome
		if stats.IsFinite(last.Ratio.Value) {
			r.Change = &last.Ratio
		}
	}
}
