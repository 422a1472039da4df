package validate

import (
	"encoding/binary"
	"slices"
)

// Kind says what a whole program does in addition to computing. Streams of samples have no kind.
type Kind string

const (
	// Compute is the kind of a program of one thread that only computes.
	Compute Kind = ""
	// Sleep is the kind of a program that computes and sleeps in turn, each time for a fixed span.
	Sleep Kind = "sleep"
	// Deadline is the kind of a program that computes and sleeps in turn, each time until the next of some evenly
	// spaced times. Such a sleep absorbs an earlier wait for a CPU.
	Deadline Kind = "deadline"
	// Child is the kind of a program that starts a process. Both compute, and the program waits for the process
	// to end.
	Child Kind = "child"
	// Threads is like Child, with a thread in place of the process.
	Threads Kind = "threads"
	// Pipe is the kind of two processes that compute alternately and wake each other through pipes.
	Pipe Kind = "pipe"
	// Server is the kind of a program that computes, asks a server on the same CPU to compute, and waits for the
	// answer, again and again. The server is not its child.
	Server Kind = "server"
)

// Kinds lists all kinds.
var Kinds = []Kind{Compute, Sleep, Deadline, Child, Threads, Pipe, Server}

// String returns the kind's name.
func (k Kind) String() string {
	if k == Compute {
		return "compute"
	}
	return string(k)
}

// ParseKind reads a kind's name.
func ParseKind(name string) (Kind, error) {
	return called("kind of program is", name, Kinds)
}

// turns is the number of times that a program sleeps or hands over to another process.
const turns = 4

// pattern says how the programs of a kind are made.
type pattern struct {
	// parts is the number of equal parts of the computing that a program and its processes do.
	parts uint64
	// share is the computed share of the duration; the program sleeps for the rest.
	share float64
	// absorbed says that a wait for the CPU does not delay the program's end, so that the truth is
	// measured by running the program itself without competitors.
	absorbed bool
	code     func(a architecture, shape shape) []byte
}

// shape holds what differs between the programs of one kind.
type shape struct {
	rounds  uint64 // of each part
	sleepNs uint64 // the length of each sleep
	server  string // the name of its socket
}

var patterns = map[Kind]pattern{
	Compute:  {1, 1, false, computeCode},
	Sleep:    {turns, 0.5, false, sleepCode},
	Deadline: {turns, 0.5, true, deadlineCode},
	Child:    {2, 1, false, childCode},
	Threads:  {2, 1, false, threadsCode},
	Pipe:     {2 * turns, 1, false, pipeCode},
	Server:   {2 * turns, 1, false, serverCode},
}

// These are places in the scratch memory: a timespec, the buffers for reading and writing, the ends
// of two pipes, and a server's address.
const (
	timeAt, inAt, outAt, pipesAt, addressAt = 0, 16, 24, 32, 64
)

func imm(v uint64) operand     { return operand{constant, v} }
func address(v uint64) operand { return operand{scratch, v} }
func result(v uint64) operand  { return operand{kept, v} }

// ask makes a system call by its name.
func (a architecture) ask(name string, args ...operand) []byte { return a.call(a.calls[name], args) }

// end ends the process, with status 0 if the product is that of the given number of rounds,
// otherwise 1.
func (a architecture) end(rounds uint64) []byte {
	return a.finish(chainResult(rounds), a.calls["exit_group"])
}

func computeCode(a architecture, s shape) []byte {
	return joined(a.start(), a.rounds(s.rounds), a.end(s.rounds))
}

func sleepCode(a architecture, s shape) []byte {
	turn := joined(a.rounds(s.rounds), a.ask("nanosleep", address(timeAt), imm(0)))
	return joined(a.start(), a.store(timeAt, s.sleepNs/1e9), a.store(timeAt+8, s.sleepNs%1e9), slices.Repeat(turn, turns), a.end(turns*s.rounds))
}

func deadlineCode(a architecture, s shape) []byte {
	const monotonic, absolute = 1, 1
	turn := joined(a.rounds(s.rounds), a.addTime(timeAt, s.sleepNs), a.ask("clock_nanosleep", imm(monotonic), imm(absolute), address(timeAt), imm(0)))
	return joined(a.start(), a.ask("clock_gettime", imm(monotonic), address(timeAt)), slices.Repeat(turn, turns), a.end(turns*s.rounds))
}

// fork starts a process that runs the code in then. Signal 17 (SIGCHLD) reports the end of the process.
func (a architecture) fork(then []byte) []byte {
	const endSignal = 17
	return joined(a.ask("clone", imm(endSignal), imm(0), imm(0), imm(0), imm(0)), a.ifZero(then))
}

// wait waits for the end of the only child.
func (a architecture) wait() []byte {
	const any = ^uint64(0)
	return a.ask("wait4", imm(any), imm(0), imm(0), imm(0))
}

func childCode(a architecture, s shape) []byte {
	alone := joined(a.start(), a.rounds(s.rounds))
	return joined(a.fork(joined(alone, a.end(s.rounds))), alone, a.wait(), a.end(s.rounds))
}

// thread starts a thread that runs the code body. It uses no stack.
func (a architecture) thread(body []byte) []byte {
	const vm, fs, files, sighand, thread, sysvsem = 0x100, 0x200, 0x400, 0x800, 0x10000, 0x40000
	return joined(a.ask("clone", imm(vm|fs|files|sighand|thread|sysvsem), imm(0), imm(0), imm(0), imm(0)), a.ifZero(body))
}

// threadsCode starts a thread. An eventfd reports the thread's end.
func threadsCode(a architecture, s shape) []byte {
	work := joined(a.start(), a.rounds(s.rounds))
	return joined(
		a.ask("eventfd2", imm(0), imm(0)), a.keep(0), a.store(outAt, 1),
		a.thread(joined(work, a.ask("write", result(0), address(outAt), imm(8)), a.ask("exit", imm(0)))),
		work, a.ask("read", result(0), address(inAt), imm(8)), a.end(s.rounds))
}

func pipeCode(a architecture, s shape) []byte {
	take := func(end uint64) []byte { return a.ask("read", result(end), address(inAt), imm(1)) }
	give := func(end uint64) []byte { return a.ask("write", result(end), address(outAt), imm(1)) }
	compute := a.rounds(s.rounds)
	return joined(
		a.start(), a.ask("pipe2", address(pipesAt), imm(0)), a.ask("pipe2", address(pipesAt+8), imm(0)),
		a.load(0, pipesAt), a.load(1, pipesAt+4), a.load(2, pipesAt+8), a.load(3, pipesAt+12),
		a.fork(joined(slices.Repeat(joined(take(0), compute, give(3)), turns), a.end(turns*s.rounds))),
		slices.Repeat(joined(compute, give(1), take(2)), turns), a.wait(), a.end(turns*s.rounds))
}

// serverCode sends the number of rounds to a server in eight bytes, and waits until they come back.
func serverCode(a architecture, s shape) []byte {
	connect := a.atSocket("connect", s.server)
	turn := joined(a.rounds(s.rounds), a.ask("write", result(0), address(outAt), imm(8)), a.ask("read", result(0), address(inAt), imm(8)))
	return joined(a.start(), a.store(outAt, s.rounds), connect, slices.Repeat(turn, turns), a.end(turns*s.rounds))
}

// servingCode is the server of a [serverCode]. It serves one client after the other, and ends when its standard
// input ends, or if a client ends early.
func servingCode(a architecture, name string) []byte {
	turn := joined(a.ask("read", result(1), address(inAt), imm(8)), a.roundsAt(inAt), a.ask("write", result(1), address(inAt), imm(8)))
	watch := joined(a.ask("read", imm(0), address(outAt), imm(1)), a.ask("exit_group", imm(0)))
	return joined(
		a.start(), a.atSocket("bind", name), a.ask("listen", result(0), imm(1)), a.thread(watch),
		a.forever(joined(a.ask("accept", result(0), imm(0), imm(0)), a.keep(1), slices.Repeat(turn, turns), a.ask("close", result(1)))))
}

// atSocket makes a socket, keeps it as result 0, and binds or connects it to the abstract address of a name that
// begins with "@".
func (a architecture) atSocket(call, name string) []byte {
	const unix, stream = 1, 1
	socket := append([]byte{unix, 0}, name...)
	socket[2] = 0 // the first byte 0 makes an abstract socket address
	size := uint64(len(socket))
	var code []byte
	for i := uint64(0); len(socket) > 0; i += 8 {
		word := [8]byte{}
		socket = socket[copy(word[:], socket):]
		code = append(code, a.store(addressAt+i, binary.LittleEndian.Uint64(word[:]))...)
	}
	return joined(code, a.ask("socket", imm(unix), imm(stream), imm(0)), a.keep(0), a.ask(call, result(0), address(addressAt), imm(size)))
}
