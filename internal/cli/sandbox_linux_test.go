package cli_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"chronoscope/machine"
)

// sandboxes are functions that take something away from the command that they run: SANDBOX COMMAND
// [ARGUMENT ...].
var sandboxes = map[string]func(){
	"on-one-cpu":    onOneCPU,
	"as-nobody":     asNobody,
	"in-empty-root": inEmptyRoot,
	"with-old-proc": withOldProc,
	"without":       without,
}

// noSandbox is the exit status if a sandbox is not available here.
const noSandbox = 125

func refuse(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(noSandbox)
}

// become replaces this process by the command.
func become(args []string) {
	path, err := exec.LookPath(args[0])
	if err == nil {
		err = syscall.Exec(path, args, os.Environ())
	}
	refuse(err)
}

// onOneCPU runs the command on the first of this process's CPUs only.
func onOneCPU() {
	cpus, err := machine.Affinity()
	if err == nil {
		_, err = machine.Pin(cpus[:1])
	}
	if err != nil {
		refuse(err)
	}
	become(os.Args[1:])
}

const nobody = 65534

// asNobody runs the command as an ordinary user without any rights.
func asNobody() {
	run(os.Args[1:], &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
	})
}

// inEmptyRoot runs the command in a root folder that contains no file but the command: no /proc, no
// /sys, no /dev. Users other than root need a user namespace for that.
func inEmptyRoot() {
	root, err := os.MkdirTemp("", "empty-root")
	if err == nil {
		err = copyFile(filepath.Join(root, "chronoscope"), os.Args[1])
	}
	if err != nil {
		refuse(err)
	}
	sandbox := &syscall.SysProcAttr{Chroot: root}
	if os.Geteuid() != 0 {
		sandbox.Cloneflags = unix.CLONE_NEWUSER
		sandbox.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
	}
	atEnd = func() { os.RemoveAll(root) }
	run(append([]string{"/chronoscope"}, os.Args[2:]...), sandbox)
}

// withOldProc runs the command in a PID namespace of its own, with the /proc of the one around it.
func withOldProc() {
	run(os.Args[1:], &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID})
}

// copyFile copies a program.
func copyFile(to, from string) error {
	path, err := exec.LookPath(from)
	if err != nil {
		return err
	}
	source, err := os.Open(path)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// atEnd removes the files that a sandbox made.
var atEnd = func() {}

// run runs the command in the sandbox and exits with its status.
func run(args []string, sandbox *syscall.SysProcAttr) {
	path := args[0]
	if sandbox.Chroot == "" {
		var err error
		if path, err = exec.LookPath(args[0]); err != nil {
			refuse(err)
		}
	}
	command := &exec.Cmd{Path: path, Args: args, Stdout: os.Stdout, Stderr: os.Stderr, SysProcAttr: sandbox}
	if sandbox.Chroot != "" {
		command.Dir = "/"
	}
	err := command.Run()
	atEnd()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		if ended.ExitCode() < 0 {
			fmt.Fprintln(os.Stderr, ended)
			os.Exit(1)
		}
		os.Exit(ended.ExitCode())
	case err != nil:
		refuse(err)
	}
}

// deniable are the system calls that the sandbox "without" can deny.
var deniable = map[string]uint32{
	"clock_gettime":     unix.SYS_CLOCK_GETTIME,
	"getcpu":            unix.SYS_GETCPU,
	"getrusage":         unix.SYS_GETRUSAGE,
	"perf_event_open":   unix.SYS_PERF_EVENT_OPEN,
	"sched_getaffinity": unix.SYS_SCHED_GETAFFINITY,
	"sched_setaffinity": unix.SYS_SCHED_SETAFFINITY,
	"sysinfo":           unix.SYS_SYSINFO,
	"wait4":             unix.SYS_WAIT4,
	"waitid":            unix.SYS_WAITID,
}

// without implements "without CALL[,CALL ...]": it runs the command with these system calls denied,
// as a container's seccomp profile does: they return EPERM.
func without() {
	var numbers []uint32
	for name := range strings.SplitSeq(os.Args[1], ",") {
		number, ok := deniable[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "no system call %q is known to this test\n", name)
			os.Exit(1)
		}
		numbers = append(numbers, number)
	}
	runtime.LockOSThread() // the filter belongs to the thread, and the command inherits it
	if err := deny(numbers); err != nil {
		refuse(err)
	}
	become(os.Args[2:])
}

// deny installs a filter (seccomp(2), "SECCOMP_SET_MODE_FILTER").
func deny(numbers []uint32) error {
	const callNumber = 0 // offset of nr in struct seccomp_data
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: callNumber}}
	for _, number := range numbers {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_NO_NEW_PRIVS): %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_SECCOMP): %w", err)
	}
	return nil
}
