package validate

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"chronoscope/stats"
)

// A straight program is what another reader of ELF takes for one, Go's own: a file with one
// segment, which can't be written to, and begins with its code.
func TestStraight(t *testing.T) {
	for arch, of := range codes {
		data, err := straight(arch, 1000)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", arch, err)
		}
		if f.Type != elf.ET_EXEC || f.Machine != of.machine || f.Class != elf.ELFCLASS64 || len(f.Progs) != 1 {
			t.Errorf("%s: %+v, %d segments", arch, f.FileHeader, len(f.Progs))
		}
		p := f.Progs[0]
		if p.Type != elf.PT_LOAD || p.Flags != elf.PF_R|elf.PF_X || p.Filesz != uint64(len(data)) || p.Off%p.Align != p.Vaddr%p.Align {
			t.Errorf("%s: %+v of %d bytes", arch, p.ProgHeader, len(data))
		}
		code := of.code(1000, chainResult(1000))
		if at := f.Entry - p.Vaddr; !bytes.Equal(data[at:], code) {
			t.Errorf("%s: it begins with %x", arch, data[at:])
		}
	}
	if _, err := straight("vax", 1); err == nil {
		t.Error("a VAX runs it")
	}
}

// It does its rounds, by its own look at their result, and says where they are wrong. The
// result is that of the chain itself.
func TestStraightRuns(t *testing.T) {
	if codes[runtime.GOARCH].code == nil {
		t.Skip("no straight programs are known for this architecture")
	}
	runs := func(data []byte) error {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, data, 0o700); err != nil {
			t.Fatal(err)
		}
		return exec.Command(path).Run()
	}
	for _, rounds := range []int{0, 1, 2, 3, 1000, 123457} {
		link = chainStart
		multiply(rounds)
		if link != chainResult(uint64(rounds)) {
			t.Errorf("%d rounds: %d, by squaring %d", rounds, link, chainResult(uint64(rounds)))
		}
		data, err := straight(runtime.GOARCH, rounds)
		if err != nil {
			t.Fatal(err)
		}
		if err := runs(data); err != nil {
			t.Errorf("%d rounds: %v", rounds, err)
		}
		one := joined(uint64(rounds))
		if rounds < 1000 {
			continue // so few stand elsewhere, too
		}
		var wrong *exec.ExitError
		if err := runs(bytes.Replace(data, one, joined(uint64(rounds+1)), 1)); !errors.As(err, &wrong) || wrong.ExitCode() != 1 {
			t.Errorf("%d rounds instead of %d: %v", rounds+1, rounds, err)
		}
	}
}

// Where straight programs don't run, this program does the rounds, and says why.
func TestNoStraightProgram(t *testing.T) {
	p := &programs{cpu: tiny(t).CPU, starts: map[string]stats.Estimate{}, folder: filepath.Join(t.TempDir(), "not there")}
	if err := p.findStart(t.Context()); err == nil {
		t.Fatal("it runs from a folder that is not there")
	}
	p.why = errors.New("no folder")
	if err := p.findStart(t.Context()); err != nil || !(p.starts[OwnProgram].Value > 0) {
		t.Errorf("%v %+v", err, p.starts)
	}
}
