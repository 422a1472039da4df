package validate

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"chronoscope/process"
)

// Go's package debug/elf reads a program's file: it has one segment, which is not writable and
// begins with the program's code.
func TestProgramFile(t *testing.T) {
	for arch, of := range architectures {
		code := computeCode(of, shape{rounds: 1000})
		data := programFile(of.machine, code)
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
		if at := f.Entry - p.Vaddr; !bytes.Equal(data[at:], code) {
			t.Errorf("%s: it begins with %x", arch, data[at:])
		}
	}
	if _, err := architectureOf("vax"); err == nil {
		t.Error("a VAX runs it")
	}
}

// The instructions are those that assemblers make of the lines next to them: GNU as for amd64, go
// tool asm for arm64.
func TestInstructions(t *testing.T) {
	amd64, arm64 := architectures["amd64"], architectures["arm64"]
	for _, c := range []struct {
		text      string
		got, want []byte
	}{
		{"mov r13, rax", amd64.keep(1), []byte{0x49, 0x89, 0xc5}},
		{"mov r13d, [rsp-220]", amd64.load(1, 36), []byte{0x44, 0x8b, 0xac, 0x24, 0x24, 0xff, 0xff, 0xff}},
		{"mov rdi, r13", amd64.call(0, []operand{result(1)})[:3], []byte{0x4c, 0x89, 0xef}},
		{"mov rsi, r15", amd64.call(0, []operand{imm(0), result(3)})[10:13], []byte{0x4c, 0x89, 0xfe}},
		{"lea rdx, [rsp-240]", amd64.call(0, []operand{imm(0), imm(0), address(16)})[20:28], []byte{0x48, 0x8d, 0x94, 0x24, 0x10, 0xff, 0xff, 0xff}},
		{"mov r10, 0x1122334455667788", amd64.call(0, []operand{imm(0), imm(0), imm(0), imm(0x1122334455667788)})[30:40], []byte{0x49, 0xba, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}},
		{"add qword ptr [rsp-248], 1000000", amd64.addTime(0, 1e6)[:12], []byte{0x48, 0x81, 0x84, 0x24, 0x08, 0xff, 0xff, 0xff, 0x40, 0x42, 0x0f, 0}},
		{"SUB $240, RSP, R1", arm64.call(0, []operand{imm(0), address(16)})[16:20], joined(uint32(0xd103c3e1))},
		{"MOVD R21, R0", arm64.call(0, []operand{result(1)})[:4], joined(uint32(0xaa1503e0))},
		{"MOVD R0, R21", arm64.keep(1), joined(uint32(0xaa0003f5))},
		{"MOVWU -220(RSP), R21", arm64.load(1, 36), joined(uint32(0xb85243f5))},
		{"MOVD R1, -256(RSP)", arm64.store(0, 5)[16:], joined(uint32(0xf81003e1))},
		{"mov rcx, [rsp-240]; test rcx, rcx; jz .+21", amd64.roundsAt(16)[:13], []byte{0x48, 0x8b, 0x8c, 0x24, 0x10, 0xff, 0xff, 0xff, 0x48, 0x85, 0xc9, 0x74, 0x13}},
		{"nop; nop; jmp .-2", amd64.forever([]byte{0x90, 0x90}), []byte{0x90, 0x90, 0xe9, 0xf9, 0xff, 0xff, 0xff}},
		{"MOVD -240(RSP), R1; CBZ R1, 8(PC)", arm64.roundsAt(16)[:8], joined(uint32(0xf85103e1), uint32(0xb4000101))},
		{"JMP -2(PC)", arm64.forever(make([]byte, 8))[8:], joined(uint32(0x17fffffe))},
		{"CBNZ R0, 3(PC)", arm64.ifZero(make([]byte, 8))[:4], joined(uint32(0xb5000060))},
		{"MOVD -248(RSP), R1", arm64.addTime(0, 1)[:4], joined(uint32(0xf85083e1))},
		{"BLT 5(PC) ... MOVD R1, -248(RSP)", arm64.addTime(0, 1)[44:], joined(
			uint32(0x540000ab), uint32(0xcb020021), uint32(0xf85003e3), uint32(0x91000463), uint32(0xf81003e3), uint32(0xf81083e1))},
		{"CMP R2, R19; CSET NE, R0", arm64.finish(0, 0)[16:24], joined(uint32(0xeb02027f), uint32(0x9a9f07e0))},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s: % x, want % x", c.text, c.got, c.want)
		}
	}
}

// here returns programs for this machine's architecture, with a server.
func here(t *testing.T) *programs {
	t.Helper()
	code, err := architectureOf(runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	p := &programs{cpu: tiny(t).CPU, code: code, folder: t.TempDir(), server: "@chronoscope-test-" + t.Name()}
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	if err := p.serve(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.endServer)
	return p
}

// A computing program checks the product of its rounds itself, and reports a wrong number of
// rounds. The product equals that of the chain in Go.
func TestProgramComputes(t *testing.T) {
	p := here(t)
	for _, rounds := range []uint64{0, 1, 2, 3, 1000, 123457} {
		link = chainStart
		multiply(int(rounds))
		if link != chainResult(rounds) {
			t.Errorf("%d rounds: %d, by squaring %d", rounds, link, chainResult(rounds))
		}
		c, err := p.command(Compute, shape{rounds: rounds}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(c.Path).Run(); err != nil {
			t.Errorf("%d rounds: %v", rounds, err)
		}
		if rounds < 1000 {
			continue // such small numbers occur elsewhere in the code, too
		}
		data, _ := os.ReadFile(c.Path)
		changed := filepath.Join(t.TempDir(), "changed")
		wrongRounds := bytes.Replace(data, p.code.rounds(rounds), p.code.rounds(rounds+1), 1)
		if err := os.WriteFile(changed, wrongRounds, 0o700); err != nil {
			t.Fatal(err)
		}
		var wrong *exec.ExitError
		if err := exec.Command(changed).Run(); !errors.As(err, &wrong) || wrong.ExitCode() != 1 {
			t.Errorf("%d rounds instead of %d: %v", rounds+1, rounds, err)
		}
	}
}

// Programs of each kind run to their end, in as many threads as the kind says, and sleep no less
// than they should.
func TestPatternsRun(t *testing.T) {
	p := here(t)
	for k, want := range map[Kind]struct {
		threads int
		least   time.Duration
	}{
		Compute: {1, 0}, Sleep: {1, turns * 3 * ms}, Deadline: {1, turns * 3 * ms}, Child: {2, 0}, Threads: {2, 0}, Pipe: {2, 0}, Server: {1, 0},
	} {
		c, err := p.command(k, shape{rounds: 5000, sleepNs: 3e6, server: p.server}, 1)
		if err != nil {
			t.Fatal(err)
		}
		run, err := c.Command.Run(t.Context())
		if err != nil || run.ExitCode != 0 {
			t.Errorf("%s: status %d, %v", k, run.ExitCode, err)
		}
		if run.Untraced == nil && len(run.Threads) != want.threads {
			t.Errorf("%s: %d threads, want %d", k, len(run.Threads), want.threads)
		}
		if wall := time.Duration(run.WallNs); wall < want.least {
			t.Errorf("%s: took %v", k, wall)
		}
	}
	// No server has this name.
	c, err := p.command(Server, shape{rounds: 1, server: p.server + "x"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if run, _ := c.Command.Run(t.Context()); run.ExitCode != 2 {
		t.Errorf("without a server it ends with %d", run.ExitCode)
	}
}

// A server ends when the process that started it does, since then its standard input ends.
func TestServerEnds(t *testing.T) {
	p := here(t)
	path := filepath.Join(p.folder, "another")
	if err := os.WriteFile(path, programFile(p.code.machine, servingCode(p.code, p.server+"x")), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := startChild(p.cpu, exec.CommandContext(t.Context(), path))
	if err != nil {
		t.Fatal(err)
	}
	for askServer(p.server+"x") != nil {
		time.Sleep(ms)
	}
	if err := errors.Join(c.input.Close(), c.command.Wait()); err != nil {
		t.Error(err)
	}
}

// A client that is killed amid a request ends the server. The next cell has another one: validations failed with "exit
// status 2" after a run at a niceness of -20 that took too long.
func TestServerAfterAKilledClient(t *testing.T) {
	p := here(t)
	conn, err := net.Dial("unix", p.server)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Write(make([]byte, 8))
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	first := p.serving
	_, _ = io.Copy(io.Discard, first.output) // until it has ended
	if err := p.serve(t.Context()); err != nil || p.serving == first {
		t.Fatalf("%v, the server is the same: %v", err, p.serving == first)
	}
	c, err := p.command(Server, shape{rounds: 1, server: p.server}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if run, err := c.Command.Run(t.Context()); err != nil || run.Failure() != nil {
		t.Errorf("%v, %v", err, run.Failure())
	}
	if again := p.serving; p.serve(t.Context()) != nil || p.serving != again {
		t.Error("a server that answers is not the same afterwards")
	}
}

// Deadlines are evenly spaced from the first reading of the clock on, however long the program
// computes between them.
func TestDeadlineAbsorbs(t *testing.T) {
	p := here(t)
	var run process.Run
	for _, rounds := range []uint64{0, 400_000} { // 400,000 rounds take about a third of the time between two deadlines
		c, err := p.command(Deadline, shape{rounds: rounds, sleepNs: 2e6}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if run, err = c.Command.Run(t.Context()); err != nil || run.WallNs+run.StoppedNs < turns*2e6 { // it sleeps while its tracer stops it, too
			t.Errorf("%d rounds: %d ns and stopped for %d, %v", rounds, run.WallNs, run.StoppedNs, err)
		}
	}
	if run.VoluntarySwitches < turns {
		t.Skipf("it was late for %d of its deadlines, on a busy machine", turns-run.VoluntarySwitches)
	}
}

// If programs of machine code don't run, this program itself does the rounds.
func TestNoMachineCode(t *testing.T) {
	p := here(t)
	p.folder = filepath.Join(p.folder, "not there")
	if err := p.findStart(t.Context()); err == nil {
		t.Fatal("it runs from a folder that is not there")
	}
	p.why = errors.New("no folder")
	if err := p.findStart(t.Context()); err != nil || !(p.startNs > 0) {
		t.Errorf("%v %+v", err, p.startNs)
	}
}
