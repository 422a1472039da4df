package history

import (
	"encoding/json"
	"io"
	"reflect"
	"time"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// Row is one value of a series as a row of a table. docs/history.md describes the columns.
type Row struct {
	Record      string    `json:"record" parquet:"record,dict"`
	Time        time.Time `json:"time" parquet:"time,timestamp(microsecond)"`
	Started     time.Time `json:"started" parquet:"started,timestamp(microsecond)"`
	Commit      *string   `json:"commit" parquet:"commit,optional,dict"`
	Modified    bool      `json:"modified" parquet:"modified"`
	Topic       string    `json:"topic" parquet:"topic,dict"`
	Name        string    `json:"name" parquet:"name,dict"`
	Quantity    string    `json:"quantity" parquet:"quantity,dict"`
	Unit        string    `json:"unit" parquet:"unit,dict"`
	Better      string    `json:"better" parquet:"better,dict"`
	Value       float64   `json:"value" parquet:"value"`
	Lo          *float64  `json:"lo" parquet:"lo,optional"`
	Hi          *float64  `json:"hi" parquet:"hi,optional"`
	Verdict     string    `json:"verdict" parquet:"verdict,dict"`
	Outlier     bool      `json:"outlier" parquet:"outlier"`
	Regime      int32     `json:"regime" parquet:"regime"`
	Level       float64   `json:"level" parquet:"level"`
	CPU         string    `json:"cpu" parquet:"cpu,dict"`
	System      string    `json:"system" parquet:"system,dict"`
	Kernel      string    `json:"kernel" parquet:"kernel,dict"`
	Hypervisor  string    `json:"hypervisor" parquet:"hypervisor,dict"`
	Clocksource string    `json:"clocksource" parquet:"clocksource,dict"`
	Arch        string    `json:"arch" parquet:"arch,dict"`
	Go          string    `json:"go" parquet:"go,dict"`
}

// Rows returns all values of a history, series after series.
func Rows(d record.History) []Row {
	rows := []Row{}
	for _, s := range d.Series {
		regime := 0
		for i, p := range s.Points {
			for regime+1 < len(s.Regimes) && i > s.Regimes[regime].Last {
				regime++
			}
			of := d.Records[p.Record]
			row := Row{
				Record: of.Name, Time: of.Started.UTC(), Started: of.Started.UTC(), Modified: of.Modified,
				Topic: s.Topic, Name: s.Name, Quantity: s.Quantity, Unit: s.Unit, Better: s.Better,
				Value: p.Value, Lo: maybe(p.Lo), Hi: maybe(p.Hi), Verdict: string(p.Verdict), Outlier: p.Outlier, Regime: int32(regime),
				CPU: s.CPU, System: s.System, Kernel: s.Kernel, Hypervisor: s.Hypervisor, Clocksource: s.Clocksource, Arch: s.Arch, Go: of.Go,
			}
			if len(s.Regimes) > 0 {
				row.Level = s.Regimes[regime].Level.Value
			}
			if of.Commit != "" {
				row.Commit, row.Time = &of.Commit, of.CommitTime.UTC()
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// WriteJSONLines writes one line of JSON for each row.
func WriteJSONLines(w io.Writer, rows []Row) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for _, r := range rows {
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// Fields returns the rows with all of their columns.
func Fields(rows []Row) view.Fields {
	f := view.Fields{Element: Row{}}
	for _, column := range reflect.VisibleFields(reflect.TypeFor[Row]()) {
		f.Columns = append(f.Columns, column.Tag.Get("json"))
	}
	for _, r := range rows {
		f.Rows = append(f.Rows, r)
	}
	return f
}

// maybe returns a pointer to a number, or nil if it is missing, as parquet represents it.
func maybe(f stats.Float) *float64 {
	if !f.Known() {
		return nil
	}
	v := f.Value()
	return &v
}
