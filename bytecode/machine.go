package bytecode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"chronoscope/env"
	"chronoscope/internal/group"
)

// virtualMachine is a virtual machine that runs the harness.
type virtualMachine struct {
	command *exec.Cmd
	in      io.WriteCloser
	pipe    io.ReadCloser
	out     *bufio.Reader
	said    *said

	mutex  sync.Mutex
	hungUp bool
	late   bool
}

// lostMachine says that a virtual machine no longer answers.
type lostMachine struct {
	class   string // the class that it ran
	problem string
}

func (l *lostMachine) Error() string {
	return fmt.Sprintf("the virtual machine was asked to run %s: %s", l.class, l.problem)
}

// startMachine starts the launcher in a process group of its own, on the CPUs given.
func startMachine(java Java, arguments []string, cpus []int) (*virtualMachine, error) {
	m := &virtualMachine{command: exec.Command(java.Path, arguments...), said: newSaid()}
	m.command.Stderr = m.said
	m.command.WaitDelay = time.Second
	group.Own(m.command)
	var err error
	if m.in, err = m.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("a pipe to the virtual machine: %w", err)
	}
	if m.pipe, err = m.command.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("a pipe from the virtual machine: %w", err)
	}
	m.out = bufio.NewReaderSize(m.pipe, 1<<16)
	if err := startOn(m.command, cpus); err != nil {
		return nil, fmt.Errorf("starting %s: %w: name a launcher that can be run, and CPUs that this process may use", java.Path, err)
	}
	return m, nil
}

// startOn starts a program on the given CPUs, which it inherits from the thread that starts it.
func startOn(c *exec.Cmd, cpus []int) error {
	release, err := env.Thread(cpus...)
	if err != nil {
		return err
	}
	defer release()
	return c.Start()
}

// mostLongs is the most numbers that one answer may have: 8 MB.
const mostLongs = 1 << 20

// run executes a class that fills longs numbers, with block trials for each row. The error is a
// *lostMachine or that of ctx; after an error the machine has ended.
func (m *virtualMachine) run(ctx context.Context, class string, longs, block int, limit time.Duration) ([]int64, error) {
	if longs < 1 || longs > mostLongs-headerLongs {
		return nil, fmt.Errorf("%s is to fill %d numbers, and 1 to %d are possible", class, longs, mostLongs-headerLongs)
	}
	late := time.AfterFunc(limit, func() { m.hangUp(true) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { m.hangUp(false) })()
	answer, err := m.ask(class, longs+headerLongs, block)
	if err == nil {
		return answer, nil
	}
	ended := m.stop()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if m.late {
		ended = fmt.Sprintf("it gave no answer within %v, and was ended", limit.Round(time.Millisecond))
	}
	problem := fmt.Sprintf("%v (%s)", err, ended)
	if text := m.said.text(); text != "" {
		problem += "; it said: " + text
	}
	return nil, &lostMachine{class, problem}
}

// ask sends the command, reads the answer, and returns it without its header.
func (m *virtualMachine) ask(class string, longs, block int) ([]int64, error) {
	name := strings.ReplaceAll(class, "/", ".")
	question := binary.BigEndian.AppendUint16(nil, uint16(len(name)))
	question = append(question, name...)
	question = binary.BigEndian.AppendUint32(question, uint32(longs))
	question = binary.BigEndian.AppendUint32(question, uint32(block))
	if _, err := m.in.Write(question); err != nil {
		return nil, fmt.Errorf("it no longer reads commands: %w", err)
	}
	return readAnswer(m.out, longs)
}

// readAnswer reads an answer of longs numbers, header included, and returns those after the header.
func readAnswer(r *bufio.Reader, longs int) ([]int64, error) {
	head := binary.BigEndian.AppendUint64(nil, magicLong)
	head = binary.BigEndian.AppendUint64(head, uint64(longs))
	got := make([]byte, len(head))
	n, err := io.ReadFull(r, got)
	if n > 0 && !bytes.Equal(got[:n], head[:n]) {
		more, _ := r.Peek(r.Buffered())
		return nil, fmt.Errorf("something else was written to its standard output: %q: %s", excerpt(append(got[:n], more...)), unsetOr("end what the launcher prints there"))
	}
	if err != nil {
		return nil, fmt.Errorf("it ended before it had answered: %w", err)
	}
	answer := make([]int64, longs-headerLongs)
	if err := binary.Read(r, binary.BigEndian, answer); err != nil {
		return nil, fmt.Errorf("it ended within its answer: %w", err)
	}
	return answer, nil
}

// hangUp kills the machine's process group and ends the wait for its answer. It does so only before the
// machine is reaped, because afterwards another process may have its process number.
func (m *virtualMachine) hangUp(late bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.hungUp {
		m.hungUp, m.late = true, late
		group.End(m.command)
		m.pipe.Close()
	}
}

// stop ends the virtual machine, waits for its process, and returns how it ended. The machine has 50 ms to exit by
// itself. If it has crashed, stop does not wait that long, since the machine's pipe is closed already.
func (m *virtualMachine) stop() string {
	m.in.Close()
	grace := time.AfterFunc(50*time.Millisecond, func() { m.hangUp(false) })
	io.Copy(io.Discard, io.LimitReader(m.out, 1<<20))
	grace.Stop()
	m.hangUp(false)
	if err := m.command.Wait(); err != nil && m.command.ProcessState == nil {
		return err.Error()
	}
	return m.command.ProcessState.String()
}

// said holds the beginning of the machine's standard error, which names an exception, and what it says about
// compilations.
type said struct {
	mutex    sync.Mutex
	bytes    []byte
	line     []byte // the last line, as long as it has no end
	compiled compilations
}

func newSaid() *said {
	return &said{compiled: compilations{id: map[string]string{}, gone: map[string]string{}}}
}

func (s *said) Write(piece []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	const longest = 4096
	for _, b := range piece {
		if s.line = append(s.line, b); b != '\n' && len(s.line) < longest {
			continue
		}
		if !s.compiled.note(strings.TrimRight(string(s.line), "\r\n")) {
			s.keep(s.line)
		}
		s.line = s.line[:0]
	}
	return len(piece), nil
}

func (s *said) keep(text []byte) {
	const most = 4096
	s.bytes = append(s.bytes, text[:min(len(text), most-len(s.bytes))]...)
}

func (s *said) text() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return excerpt(append(slices.Clone(s.bytes), s.line...))
}

// notCompiled returns those of the stretches' sequences that have no compiled code, with the reason.
func (s *said) notCompiled(stretches []Stretch) map[string]string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := map[string]string{}
	for i := range stretches {
		name := stretches[i].Sequence
		if why := s.compiled.problem(name); why != "" {
			found[name] = why
		}
	}
	return found
}

// arguments returns the launcher's arguments for a mode.
func arguments(java Java, mode Mode, folder, library string, count bool) []string {
	counting := ""
	if count {
		counting = "count"
	}
	list := []string{
		"-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DisplayVMOutputToStderr",
		"-XX:-UsePerfData", "-XX:+UseSerialGC", "-XX:-CreateCoredumpOnCrash",
		"-XX:ErrorFile=" + filepath.Join(folder, "crash.log"),
		"-Xms64m", "-Xmx256m", "-Xss16m",
	}
	if java.Major() >= nativeAccess {
		list = append(list, "--enable-native-access=ALL-UNNAMED")
	}
	if java.Major() >= unifiedLogging && !strings.Contains(java.Name, "OpenJ9") {
		list = append(list, "-Xlog:disable", "-Xlog:all=warning:stderr")
	}
	list = append(list, modeArguments[mode]...)
	return append(list, "-cp", folder, strings.ReplaceAll(harnessClass, "/", "."), library, counting)
}

// nativeAccess is the first Java version that warns of native methods unless they are allowed (JEP
// 454, 472). unifiedLogging is the first whose warnings go to standard output unless they are sent elsewhere (JEP 158).
const nativeAccess, unifiedLogging = 22, 9

// modeArguments are the arguments that choose what executes the sequences. The interpreter must not
// replace pairs of instructions by combined ones while it runs. The compilers must also compile long
// methods, early, and in the foreground, and say what they compiled. Java 17's C2 gives up a sequence of 1,000
// divisions of longs unless it may go deeper into them than it does by default (1100). It is to give up one of 2,000,
// which it compiles for minutes.
var modeArguments = map[Mode][]string{
	Interpreter: {"-Xint", "-XX:-RewriteFrequentPairs"},
	C1:          append([]string{"-XX:TieredStopAtLevel=1"}, compilerArguments...),
	C2:          append([]string{"-XX:-TieredCompilation"}, compilerArguments...),
}

var compilerArguments = []string{
	"-Xbatch", "-XX:-DontCompileHugeMethods", "-XX:CompileThresholdScaling=0.005", "-XX:+PrintCompilation",
	"-XX:MaxLabelRootDepth=2500",
}
