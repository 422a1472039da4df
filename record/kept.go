package record

import "time"

// Kept is the document that lists the records of an archive.
type Kept struct {
	Header
	Folder  string       `json:"folder"`
	Records []KeptRecord `json:"records"` // the oldest first
}

// KeptRecord is one record. If it can't be read, unknown properties are null and Error gives the
// reason.
type KeptRecord struct {
	Name        string     `json:"name"` // of the file
	Command     *string    `json:"command"`
	Started     *time.Time `json:"started"`
	DurationNs  *int64     `json:"duration_ns"`
	Interrupted *bool      `json:"interrupted"`
	CPU         *string    `json:"cpu"`
	Error       *string    `json:"error"`
	// Subjects are what the record is about, such as programs; empty if its document names none.
	Subjects []string `json:"subjects"`
}

// NewKept returns the list of the entries of an archive.
func NewKept(h Header, folder string, entries []Entry) Kept {
	d := Kept{Header: h, Folder: folder, Records: []KeptRecord{}}
	for _, e := range entries {
		d.Records = append(d.Records, newKeptRecord(e))
	}
	return d
}

func newKeptRecord(e Entry) KeptRecord {
	r := KeptRecord{Name: e.Name, Subjects: append([]string{}, e.Subjects...)}
	if e.Err != nil {
		r.Error = known(e.Err.Error())
		return r
	}
	h := e.Header
	r.Command, r.Started, r.DurationNs, r.Interrupted = &h.Command, &h.Started, &h.DurationNs, &h.Interrupted
	r.CPU = known(string(h.Machine.CPU))
	return r
}

// known returns nil for an empty text, and otherwise a pointer to it.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
