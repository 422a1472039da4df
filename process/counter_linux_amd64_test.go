package process

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/clock"
)

// counterProgram is a program that reads the counter by an instruction, reads times, each time
// before work turns of a loop, and does the code of end after that. It exits with 1 where the
// counter goes back.
func counterProgram(t *testing.T, read []byte, reads, work uint32, end []byte) Command {
	t.Helper()
	const base = 0x400000
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	loop := bytes.Join([][]byte{
		read,
		{0x48, 0xc1, 0xe2, 0x20}, // shl $32, %rdx
		{0x48, 0x09, 0xd0},       // or %rdx, %rax
		{0xbf, 1, 0, 0, 0},       // mov $1, %edi
		{0x4c, 0x39, 0xc0},       // cmp %r8, %rax
		{0x72, 18},               // jb to exit
		{0x49, 0x89, 0xc0},       // mov %rax, %r8
		{0xb9}, number(work),     // mov $work, %ecx
		{0xff, 0xc9, 0x75, 0xfc}, // dec %ecx; jnz back to that
		{0xff, 0xcb, 0x75},       // dec %ebx; jnz back to loop
	}, nil)
	loop = append(loop, byte(-len(loop)-1), 0xeb, 2, 0xeb, byte(2+len(end))) // jmp over the next; exit: jmp to the system call
	code := bytes.Join([][]byte{
		{0x4d, 0x31, 0xc0, 0xbb}, number(reads), // xor %r8, %r8; mov $reads, %ebx
		loop, end,
		{0x31, 0xff},                    // xor %edi, %edi
		{0xb8, 60, 0, 0, 0, 0x0f, 0x05}, // mov $60, %eax; syscall: exit
	}, nil)
	const headers = 64 + 56
	header := elf.Header64{Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Entry: base + headers,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1}
	size := uint64(headers + len(code))
	segment := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Paddr: base, Filesz: size, Memsz: size, Align: 4096}
	return Command{Path: writeProgram(t, header, segment, code)}
}

// writeProgram writes a program of these parts into a file.
func writeProgram(t *testing.T, parts ...any) (path string) {
	t.Helper()
	var file bytes.Buffer
	for _, part := range parts {
		if err := binary.Write(&file, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "counter")
	if err := os.WriteFile(path, file.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// needsStops skips a test if reads of the counter stop no program on this machine.
func needsStops(t *testing.T) {
	t.Helper()
	if !clock.CounterCanBeDisabled() {
		t.Skip("this machine can't disable the counter")
	}
}

// A program that reads the time-stamp counter by an instruction showed no look: one that waits by
// that, and does less where it is late, was trusted.
func TestCounterReads(t *testing.T) {
	needsStops(t)
	for name, read := range map[string][]byte{"rdtsc": rdtsc, "rdtscp": rdtscp} {
		r := mustNoteClocks(t, counterProgram(t, read, 100, 100_000, nil))
		if r.Failure() != nil || r.Unclocked != nil || r.ClockReads != 100 || r.ClockWorkNs == 0 || r.Signals != 0 {
			t.Errorf("%s: %d looks of 100, %d ns of work between them: %+v", name, r.ClockReads, r.ClockWorkNs, r)
		}
		r = mustNoteClocks(t, counterProgram(t, read, 1_000_000, 1, nil))
		if most := mostLooks(r); r.Failure() != nil || r.Unclocked != errManyLooks || r.ClockReads > most || r.Stops > most+20 {
			t.Errorf("%s: %d looks of a million, at most %d, in %d stops: %+v", name, r.ClockReads, most, r.Stops, r)
		}
	}
	load := []byte{0x31, 0xc0, 0x8b, 0x00} // xor %eax, %eax; mov (%rax), %eax
	for _, reads := range []uint32{10, 10_000} {
		if r := mustNoteClocks(t, counterProgram(t, rdtsc, reads, 1, load)); r.Signal != unix.SIGSEGV || r.ClockReads < 10 {
			t.Errorf("a fault of its own after %d reads: %+v", reads, r)
		}
	}
}

// A program that works for 40 ms by the counter did a quarter of that beside load when it was traced, too:
// the counter showed what it waited, and its CPU time was taken for what it uses alone.
func TestWaitsAreHiddenFromTheCounter(t *testing.T) {
	needsStops(t)
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	begun, from := time.Now(), clock.Counter()
	time.Sleep(50 * time.Millisecond)
	ticksPerMs := float64(clock.Counter()-from) / time.Since(begun).Seconds() / 1e3
	beside(t, 3)
	const worksNs = 40e6
	c := program("works until the counter shows so many ticks more", strconv.FormatInt(int64(ticksPerMs*worksNs/1e6), 10))
	c.CPUs = []int{0}
	r := mustNoteClocks(t, c)
	if r.Failure() != nil || r.Unclocked != nil || r.WaitNs() < worksNs/2 || r.CPUNs() < 0.8*worksNs || r.CPUNs() > 2*worksNs {
		t.Errorf("%d ns of CPU time, %d ns waited, %d looks: %+v", r.CPUNs(), r.WaitNs(), r.ClockReads, r)
	}
}

// A 32-bit program has a vDSO of its own, which is left as it is. It may read the counter soon, since
// its looks are not all known.
func TestCounterReads32Bit(t *testing.T) {
	const base, headers = 0x400000, 52 + 32
	code := []byte{
		0xbb, 0x40, 0x42, 0x0f, 0, // mov $1000000, %ebx
		0x0f, 0x31, // rdtsc
		0x4b, 0x75, 0xfb, // dec %ebx; jnz back to that
		0xb8, 1, 0, 0, 0, 0xcd, 0x80, // mov $1, %eax; int $0x80: exit(0)
	}
	header := elf.Header32{Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_386), Version: uint32(elf.EV_CURRENT), Entry: base + headers,
		Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: 1}
	size := uint32(headers + len(code))
	segment := elf.Prog32{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Paddr: base, Filesz: size, Memsz: size, Align: 4096}
	path := writeProgram(t, header, segment, code)
	if r, err := (Command{Path: path, Untraced: true}).Run(background); err != nil || r.Failure() != nil {
		t.Skip("no 32-bit programs here")
	}
	r := mustTrace(t, Command{Path: "sh", Args: []string{"-c", "true; exec " + path}, NoteClocks: true})
	if r.Failure() != nil || !errors.Is(r.Unclocked, errOtherMachine) || r.Stops > 100 {
		t.Errorf("%d stops: %+v", r.Stops, r)
	}
}

// The dynamic linker of each program reads the counter some ten times. A script that started thirty
// programs was said to look at clocks too often.
func TestLinkersReadCounter(t *testing.T) {
	r := mustNoteClocks(t, shell("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do /bin/true; done"))
	if r.Failure() != nil || r.Unclocked != nil || r.ClockReads > 35 {
		t.Errorf("%d looks: %+v", r.ClockReads, r)
	}
}

// Each thread stops at most once more when there were too many looks.
func TestThreadsReadCounter(t *testing.T) {
	needsStops(t)
	for range 5 {
		r := mustNoteClocks(t, program("threads read the counter"))
		if r.Failure() != nil || r.Unclocked != errManyLooks || r.ClockReads > mostLooks(r) {
			t.Errorf("%d looks, at most %d: %+v", r.ClockReads, mostLooks(r), r)
		}
	}
}

// rdtscp is three bytes long, rdtsc two, and other instructions are left alone.
func TestCounterRead(t *testing.T) {
	for code, want := range map[string]int{"\x0f\x31\x90": 2, "\x0f\x31": 2, "\x0f\x01\xf9": 3, "\x0f\x01\xf8": 0, "\x0f\x01": 0, "\x0f": 0, "": 0, "\x8b\x00\x0f": 0} {
		if got := counterRead([]byte(code)); got != want {
			t.Errorf("%x: %d bytes, not %d", code, got, want)
		}
	}
}

// The vDSO's functions read the counter again where the kernel's time moved on meanwhile. Beside
// competitors a stop at that lasted longer than a tick of the kernel, so that a look stopped some 40
// times: 12,000 stops and 47 s in a program of 15 ms. No look stops twice.
func TestCounterBesideLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	beside(t, 4)
	c := program("looks all the time")
	c.CPUs = []int{0}
	r := mustNoteClocks(t, c)
	if most := mostLooks(r); r.Failure() != nil || r.Stops > most+40 {
		t.Errorf("%d stops for %d looks, at most %d: %+v", r.Stops, r.ClockReads, most, r)
	}
}
