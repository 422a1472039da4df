package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2/maybe"
	"golang.org/x/term"

	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/view"
)

// checkForm returns an error, before a long measurement, for a format that a command's documents
// don't have.
func checkForm(command string, format render.Format) error {
	if format == render.CSVFormat && !view.Tabular(command) {
		return usagef("--format: the report card is no table: use text or json, or csv with a subcommand")
	}
	return nil
}

// checkPlaces checks that each file can be written, and that no two are the same.
func (s settings) checkPlaces() error {
	if s.plot != "" {
		if _, err := render.FigureFormat(s.plot); err != nil {
			return usagef("--plot: %v", err)
		}
	}
	files := map[string]string{}
	places := []struct{ flag, file string }{{"-o", s.output}, {"--html", s.html}, {"--plot", s.plot}}
	for _, e := range s.exports {
		places = append(places, struct{ flag, file string }{"--export", e.file})
	}
	for _, place := range places {
		if place.file == "" {
			continue
		}
		name := filepath.Clean(place.file)
		if other, taken := files[name]; taken {
			return usagef("%s and %s both name %s: give each a file of its own", place.flag, other, place.file)
		}
		files[name] = place.flag
		if err := checkPlace(place.file); err != nil {
			return err
		}
	}
	return nil
}

// write writes the result to standard output or to the file, and the other requested outputs. If
// one of them fails, the others are written all the same, since the result took long. Standard output
// comes last, since its reader may be gone.
func (s settings) write(stdout io.Writer, r found) error {
	text := r.text
	if text == nil || s.format != render.TextFormat {
		text = func(w io.Writer, style render.Style) error { return render.Write(w, s.format, r.document, style) }
	}
	failed := []error{s.keep(r.document)}
	for _, e := range s.exports {
		failed = append(failed, writeFile(e.file, r.exports[e.format]))
	}
	if s.html != "" {
		failed = append(failed, writeFile(s.html, func(w io.Writer) error { return render.Page(w, r.document) }))
	}
	if s.plot != "" {
		failed = append(failed, writeFile(s.plot, func(w io.Writer) error {
			format, err := render.FigureFormat(s.plot)
			if err != nil {
				return err
			}
			return render.Figure(w, format, r.document)
		}))
	}
	return errors.Join(append(failed, s.print(stdout, text))...)
}

// errNoReader says that nobody reads standard output any more, as after "| head". It makes the exit status 1, if
// nothing else decides it, and like other commands this one says nothing about it.
var errNoReader = errors.New("nobody reads standard output any more")

// worthSaying returns an error without [errNoReader]; nil if nothing else is in it.
func worthSaying(err error) error {
	if !errors.Is(err, errNoReader) {
		return err
	}
	var others []error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			others = append(others, worthSaying(e))
		}
	}
	return errors.Join(others...)
}

// fromStdout returns the error of writing to standard output, which is [errNoReader] for a closed pipe.
func fromStdout(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return errNoReader
	}
	return err
}

// print writes the rendered document to standard output or, completely or not at all, to the file;
// if the file can't be written, also to standard output.
func (s settings) print(stdout io.Writer, text func(io.Writer, render.Style) error) error {
	toStdout := func() error {
		return fromStdout(text(stdout, render.Style{Color: showsColor(stdout), Width: widthOf(stdout)}))
	}
	if s.output == "" {
		return toStdout()
	}
	err := writeFile(s.output, func(w io.Writer) error { return text(w, render.Style{}) })
	if err != nil {
		return errors.Join(err, toStdout()) // so that the result of a long measurement is not lost
	}
	return nil
}

// standardOutput is the value of -o for standard output, as in many commands.
const standardOutput = "-"

// writeFile renders into a file.
func writeFile(name string, render func(io.Writer) error) error {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	if err := save(name, b.Bytes()); err != nil {
		return fmt.Errorf("writing the result to %s: %w: choose a place that can be written", name, err)
	}
	return nil
}

// save writes a file completely or not at all. It writes to a pipe or a device such as /dev/null
// without replacing it, and keeps a symbolic link, also to a file that does not exist yet. It returns an
// error for a pipe without a reader, and does not wait for one (open(2), ENXIO).
func save(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY|withoutWaiting, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	return maybe.WriteFile(followed(name), data, 0o644)
}

// mostLinks is how many symbolic links [followed] follows, as many as Linux does (path_resolution(7)).
const mostLinks = 40

// followed returns the file to which symbolic links lead, also if it does not exist yet; for links in a circle, one of
// them.
func followed(name string) string {
	for range mostLinks {
		if existing, err := filepath.EvalSymlinks(name); err == nil {
			return existing
		}
		target, err := os.Readlink(name)
		if err != nil {
			break // it is no link
		}
		if !filepath.IsAbs(target) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(name))
			if err != nil {
				break
			}
			target = filepath.Join(folder, target)
		}
		name = target
	}
	return name
}

// checkPlace returns an error, before a long measurement, if its result could not be written.
func checkPlace(output string) error {
	switch output {
	case "":
		return nil
	case standardOutput:
		return usagef("%q: only -o writes to standard output by that name: give a file, or ./%[1]s for one that is called so", output)
	}
	switch info, err := os.Stat(output); {
	case err != nil || info.Mode().IsRegular():
	case info.IsDir():
		return fmt.Errorf("%s can't be written: it is a folder: name a file in it", output)
	case info.Mode()&fs.ModeSocket != 0, info.Mode()&fs.ModeDevice != 0 && info.Mode()&fs.ModeCharDevice == 0:
		return fmt.Errorf("%s can't be written: it is a socket or a disk: choose another place", output)
	default:
		return nil // a pipe or a device is not replaced
	}
	directory := filepath.Dir(followed(output))
	if info, err := os.Stat(directory); err != nil {
		return fmt.Errorf("%s can't be written: %w: make the directory first", output, err)
	} else if !info.IsDir() {
		return fmt.Errorf("%s can't be written: %s is no directory: choose another place", output, directory)
	}
	f, err := os.CreateTemp(directory, ".chronoscope-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("%s can't be written: %w: choose another place", output, err)
	}
	return nil
}

// showsColor reports whether w is a terminal whose user wants colours (no-color.org).
func showsColor(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// widthOf returns how many letters fit on a line of a terminal; 0 if the writer is no terminal.
func widthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// met returns an error if a verdict is worse than required, or if there is none.
func (s settings) met(verdicts map[string]stats.Verdict) error {
	if s.require == "" {
		return nil
	}
	if len(verdicts) == 0 {
		return fmt.Errorf("--require %s: nothing was measured that could be judged: the reasons stand in the result", s.require)
	}
	worse := 0
	var one string
	for name, v := range verdicts {
		if v.WorseThan(s.require) {
			worse++
			if one == "" || name < one {
				one = name
			}
		}
	}
	if worse > 0 {
		return fmt.Errorf("%d of %d results are worse than %s, as %s is required with --require: %s is %s", worse, len(verdicts), s.require, s.require, one, verdicts[one])
	}
	return nil
}

// worst adds a result's verdict to those that --require judges. If several results have the same name, the worst counts.
func worst(verdicts map[string]stats.Verdict, name string, v stats.Verdict) {
	if before, known := verdicts[name]; !known || v.WorseThan(before) {
		verdicts[name] = v
	}
}

// keep stores a document if that was requested. It says so only after the record is on the disk.
func (s settings) keep(d record.Document) error {
	if s.store == nil || d == nil {
		return nil
	}
	file, err := s.store.Keep(d)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.notes, "chronoscope: kept as %s\n", view.OneLine(file))
	return nil
}
