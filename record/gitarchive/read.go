package gitarchive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"chronoscope/record"
)

// Files returns the records of the branch, with the names of git's objects as stamps. If only the
// remote repository has the branch, as in a new clone, the records are those of the remote branch.
func (a Archive) Files() ([]record.StoredFile, error) {
	entries, err := a.entries(a.head())
	if err != nil {
		return nil, fmt.Errorf("listing records in %s: %w", a.Place(), err)
	}
	var files []record.StoredFile
	for _, e := range entries {
		fields := strings.Fields(e.attributes)
		if len(fields) == 3 && fields[1] == "blob" && strings.HasSuffix(e.name, ".json") {
			files = append(files, record.StoredFile{Name: e.name, Stamp: fields[2]})
		}
	}
	slices.SortFunc(files, func(x, y record.StoredFile) int { return strings.Compare(path.Base(x.Name), path.Base(y.Name)) })
	return files, nil
}

// entry is a file in a commit. Its attributes are mode, type and object.
type entry struct{ name, attributes string }

// entries returns the files of a commit; none of no commit.
func (a Archive) entries(commit string) (all []entry, err error) {
	if commit == "" {
		return nil, nil
	}
	list, err := a.git("ls-tree", "-r", "-z", commit)
	for line := range strings.SplitSeq(list, "\x00") {
		if attributes, name, ok := strings.Cut(line, "\t"); ok {
			all = append(all, entry{name, attributes})
		}
	}
	return all, err
}

// ReadFiles reads objects one after the other. Git ends at a damaged object; ReadFiles then starts
// it again for the remaining ones.
func (a Archive) ReadFiles(files []record.StoredFile, take func(record.StoredFile, []byte, error)) error {
	for len(files) > 0 {
		read, err := a.readSome(files, take)
		if a.Context.Err() != nil {
			return a.Context.Err()
		}
		if read < len(files) {
			if err == nil {
				err = errors.New("git ended before it was read")
			}
			take(files[read], nil, fmt.Errorf("git can't read object %s: %w", files[read].Stamp, err))
			read++
		}
		files = files[read:]
	}
	return nil
}

// readSome reads files until git ends, and returns how many it read.
func (a Archive) readSome(files []record.StoredFile, take func(record.StoredFile, []byte, error)) (int, error) {
	var objects strings.Builder
	for _, f := range files {
		objects.WriteString(f.Stamp + "\n")
	}
	command := a.command("cat-file", "--batch")
	command.Stdin = strings.NewReader(objects.String())
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := command.Start(); err != nil {
		return 0, err
	}
	defer command.Wait()
	defer out.Close()
	from := bufio.NewReaderSize(out, 1<<20)
	for i, f := range files {
		content, err := object(from)
		var damaged *damagedError
		switch {
		case errors.As(err, &damaged):
			take(f, nil, err)
		case err != nil:
			return i, errors.New(strings.TrimSpace(problems.String()))
		default:
			take(f, content, nil)
		}
	}
	return len(files), nil
}

// damagedError says that git can't read an object.
type damagedError struct{ said string }

func (e *damagedError) Error() string { return "git has no such object: " + e.said }

// object reads the next object of the output of git cat-file --batch.
func object(from *bufio.Reader) ([]byte, error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return nil, &damagedError{strings.TrimSpace(line)}
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return nil, &damagedError{strings.TrimSpace(line)}
	}
	kept := min(size, record.MostBytes+1) // anything larger is refused
	content := make([]byte, kept)
	if _, err := io.ReadFull(from, content); err != nil {
		return nil, err
	}
	_, err = io.CopyN(io.Discard, from, size-kept+1) // the rest, and the end of the line
	return content, err
}
