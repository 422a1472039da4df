package history

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"chronoscope/internal/wholefile"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// Index holds the figures of all records of a store.
type Index struct {
	Records []Record
	figures columns
}

// Record is the entry of a record in the index.
type Record struct {
	Name, Stamp string // of its file
	// Err is the reason why the record can't be read; all other fields are empty then.
	Err         string
	Command     string
	Started     time.Time
	Interrupted bool
	Source      record.Source // empty if unknown
	Tier        Tier
	Go          string
}

// Time returns the time by which the record is placed in a series: that of the commit, if it is
// known.
func (r Record) Time() time.Time {
	if r.Source.Commit != "" {
		return r.Source.Time
	}
	return r.Started
}

// columns are the figures of all records. Record, Key, N, Value, Lo, Hi, Verdict and StatisticAt have
// one element per figure; Record, Key, Verdict and StatisticAt are indices into the lists of records,
// Keys, verdicts and Statistics. Lists of numbers are read much faster than lists of structures.
type columns struct {
	Keys                 []Key
	Record, Key, N       []int32
	Value, Lo, Hi        []float64
	Verdict, StatisticAt []byte
	Statistics           []string
}

// Key is what the values of a series have in common, apart from the machine.
type Key struct {
	view.FigureKey
	Unit, Better, Work, StandIn string
}

// verdicts are stored as indices into this list.
var verdicts = []stats.Verdict{stats.Trusted, stats.Suspect, stats.Unusable}

// indexVersion returns the version of the index's format, with that of this program, whose figures may be others. An
// index of another version is made again.
func indexVersion() string {
	const format = "chronoscope history 4"
	if build, ok := debug.ReadBuildInfo(); ok {
		return format + " " + build.Main.Version
	}
	return format
}

// stored is the index in the form in which it is written.
type stored struct {
	Version string
	Records []Record
	Figures columns
}

// Open reads the index of a store, and brings it up to date. read is the number of records that it
// had to read. If the index can't be written that is no error: it is made again the next time.
func Open(s record.Store) (x Index, read int, err error) {
	files, err := s.Files()
	if err != nil {
		return x, 0, err
	}
	before := load(s.IndexFile())
	known := map[string]int{}
	for i, r := range before.Records {
		if r.Err == "" { // one that could not be read is tried again
			known[r.Name+"\x00"+r.Stamp] = i
		}
	}
	var unknown []record.StoredFile
	kept := make([]int32, len(before.Records)) // for each old record its position in the new index
	for i := range kept {
		kept[i] = -1
	}
	for _, f := range files {
		if i, ok := known[f.Name+"\x00"+f.Stamp]; ok {
			kept[i] = int32(len(x.Records))
			x.Records = append(x.Records, before.Records[i])
		} else {
			unknown = append(unknown, f)
		}
	}
	if len(unknown) == 0 && len(x.Records) == len(before.Records) {
		return before, 0, nil
	}
	build := builder{Index: x, keys: map[Key]int32{}, statistics: map[string]byte{}}
	build.copy(before.figures, kept)
	var lock sync.Mutex
	err = s.ReadFiles(unknown, func(f record.StoredFile, content []byte, err error) {
		r, figures := readRecord(f, content, err)
		lock.Lock()
		defer lock.Unlock()
		build.add(r, figures)
	})
	if err != nil {
		return x, 0, err
	}
	save(s.IndexFile(), build.Index) // without an index the next call reads all records again
	return build.Index, len(unknown), nil
}

// readRecord returns a record's entry in the index, and its figures.
func readRecord(f record.StoredFile, content []byte, err error) (Record, []view.Figure) {
	r := Record{Name: f.Name, Stamp: f.Stamp}
	var d record.Document
	if err == nil {
		d, err = record.Parse(content)
	}
	if err != nil {
		r.Err = err.Error()
		return r, nil
	}
	r.describe(d)
	return r, view.FiguresOf(d)
}

func (r *Record) describe(d record.Document) {
	h := d.Head()
	r.Command, r.Started, r.Interrupted, r.Tier, r.Go = h.Command, h.Started, h.Interrupted, TierOf(h.Machine), string(h.Machine.Go)
	if h.Source != nil {
		r.Source = *h.Source
	}
}

// Identity is what two records of one measurement have in common: when and where it was made, of which commit, and all
// its values.
type Identity uint64

// Identities returns the identity of each record.
func (x Index) Identities() []Identity {
	sums := make([]hash.Hash64, len(x.Records))
	for i, r := range x.Records {
		sums[i] = fnv.New64a()
		fmt.Fprintf(sums[i], "%s\x00%s\x00%s", r.Started.UTC().Format(time.RFC3339Nano), r.Source.Commit, r.Tier)
	}
	c := x.figures
	for i, r := range c.Record {
		k := c.Keys[c.Key[i]]
		fmt.Fprintf(sums[r], "\x00%s\x00%s\x00%s\x00%x", k.Topic, k.Name, k.Quantity, c.Value[i])
	}
	all := make([]Identity, len(sums))
	for i, sum := range sums {
		all[i] = Identity(sum.Sum64())
	}
	return all
}

// IdentityOf returns the identity that a document has as a record.
func IdentityOf(d record.Document) Identity {
	var r Record
	r.describe(d)
	build := builder{keys: map[Key]int32{}, statistics: map[string]byte{}}
	build.add(r, view.FiguresOf(d))
	return build.Index.Identities()[0]
}

type builder struct {
	Index
	keys       map[Key]int32
	statistics map[string]byte
}

func (b *builder) add(r Record, figures []view.Figure) {
	place := int32(len(b.Records))
	b.Records = append(b.Records, r)
	seen := map[view.FigureKey]bool{}
	for _, f := range figures {
		if f.Revision != "" { // the record's commit is another one
			continue
		}
		if seen[f.FigureKey] || !stats.IsFinite(f.Estimate.Value) && f.Verdict != stats.Unusable {
			continue
		}
		seen[f.FigureKey] = true
		key := Key{f.FigureKey, f.Estimate.Unit, f.Better, f.Work, f.StandIn}
		b.value(place, key, f.Estimate, byte(max(0, slices.Index(verdicts, f.Verdict))))
	}
}

// copy copies figures of another index. places has the new position of each of that index's records,
// or -1 for a record that is dropped.
func (b *builder) copy(c columns, places []int32) {
	for i, r := range c.Record {
		if places[r] >= 0 {
			b.value(places[r], c.Keys[c.Key[i]], c.estimate(i), c.Verdict[i])
		}
	}
}

func (c columns) estimate(i int) stats.Estimate {
	return stats.Estimate{Value: c.Value[i], Lo: c.Lo[i], Hi: c.Hi[i], N: int(c.N[i]), Unit: c.Keys[c.Key[i]].Unit, Statistic: c.Statistics[c.StatisticAt[i]]}
}

func (b *builder) value(place int32, key Key, e stats.Estimate, verdict byte) {
	c := &b.figures
	k, known := b.keys[key]
	if !known {
		k = int32(len(c.Keys))
		b.keys[key] = k
		c.Keys = append(c.Keys, key)
	}
	statistic, known := b.statistics[e.Statistic]
	if !known && len(c.Statistics) < math.MaxUint8 {
		statistic = byte(len(c.Statistics))
		b.statistics[e.Statistic] = statistic
		c.Statistics = append(c.Statistics, e.Statistic)
	}
	c.Record, c.Key, c.N = append(c.Record, place), append(c.Key, k), append(c.N, int32(min(e.N, math.MaxInt32)))
	c.Value, c.Lo, c.Hi = append(c.Value, e.Value), append(c.Lo, e.Lo), append(c.Hi, e.Hi)
	c.Verdict, c.StatisticAt = append(c.Verdict, verdict), append(c.StatisticAt, statistic)
}

// load reads the index from a file. It returns an empty index if the file is missing, damaged or of
// another version.
func load(file string) Index {
	f, err := record.OpenRegular(file)
	if err != nil {
		return Index{}
	}
	defer f.Close()
	var s stored
	if err := gob.NewDecoder(bufio.NewReaderSize(f, 1<<20)).Decode(&s); err != nil || s.Version != indexVersion() || !s.Figures.sound(len(s.Records)) {
		return Index{}
	}
	return Index{s.Records, s.Figures}
}

// sound reports whether all lists have the same length and all indices are valid.
func (c columns) sound(records int) bool {
	n := len(c.Record)
	for _, length := range []int{len(c.Key), len(c.N), len(c.Value), len(c.Lo), len(c.Hi), len(c.Verdict), len(c.StatisticAt)} {
		if length != n {
			return false
		}
	}
	for i := range c.Record {
		if c.Record[i] < 0 || int(c.Record[i]) >= records || c.Key[i] < 0 || int(c.Key[i]) >= len(c.Keys) ||
			int(c.Verdict[i]) >= len(verdicts) || int(c.StatisticAt[i]) >= len(c.Statistics) {
			return false
		}
	}
	return true
}

// save writes the index, if that can be done.
func save(file string, x Index) {
	if file == "" {
		return
	}
	_ = wholefile.Write(file, ".unfinished-index-", func(f *os.File) error {
		to := bufio.NewWriterSize(f, 1<<20)
		return errors.Join(gob.NewEncoder(to).Encode(stored{indexVersion(), x.Records, x.figures}), to.Flush())
	})
}
