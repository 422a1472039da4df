// Package lines keeps what an experiment found in a file, one JSON value a line.
package lines

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Append appends values to a file.
func Append[T any](name string, values ...T) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(f)
	for _, v := range values {
		err = errors.Join(err, encoder.Encode(v))
	}
	return errors.Join(err, f.Close())
}

// Read returns the values in a file. It returns an error, and no values, if the file can't be read to its end. The error is
// an [fs.ErrNotExist] if there is no file.
func Read[T any](name string) (values []T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := json.NewDecoder(bufio.NewReader(f)); ; {
		var v T
		if err := lines.Decode(&v); errors.Is(err, io.EOF) {
			return values, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: value %d: %w", name, len(values)+1, err)
		}
		values = append(values, v)
	}
}
