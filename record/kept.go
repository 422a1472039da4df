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

// known returns nil for an empty text, and otherwise a pointer to it.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
