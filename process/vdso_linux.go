package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hideVDSO hides the functions that the kernel maps into a program (vdso(7)) from it, which
// stands still at its first instruction: it then reads clocks by system calls. It takes their
// address off the auxiliary vector, which lies on the stack behind the arguments and the
// environment (System V ABI, Initial Stack and Register State).
func hideVDSO(thread int) error {
	var r registers
	if err := r.read(thread); err != nil {
		return fmt.Errorf("hiding the vDSO: %w", err)
	}
	stack := make([]uint64, stackWords)
	local := unix.Iovec{Base: (*byte)(unsafe.Pointer(&stack[0]))}
	local.SetLen(wordBytes * len(stack))
	remote := unix.RemoteIovec{Base: r.stack(), Len: wordBytes * len(stack)}
	n, err := unix.ProcessVMReadv(thread, []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
	if err != nil {
		return fmt.Errorf("hiding the vDSO: reading the program's stack: %w", err)
	}
	at, err := vdsoEntry(stack[:n/wordBytes])
	if err != nil || at < 0 {
		return err
	}
	var ignore [wordBytes]byte
	binary.NativeEndian.PutUint64(ignore[:], auxIgnore)
	if _, err := unix.PtracePokeData(thread, r.stack()+uintptr(at)*wordBytes, ignore[:]); err != nil {
		return fmt.Errorf("hiding the vDSO: writing to the program's stack: %w", err)
	}
	return nil
}

// stackWords are read of the stack at most: room for some 16,000 arguments and variables.
const stackWords = 16 << 10

// Entries of the auxiliary vector (getauxval(3)): its end, one that is not looked at, and where
// the vDSO is.
const auxEnd, auxIgnore, auxVDSO = 0, 1, 33

var errStack = errors.New("hiding the vDSO: the program's stack has too many arguments, or an unknown form")

// vdsoEntry finds the place of the vDSO's entry among the words of a new program's stack; -1
// where there is none.
func vdsoEntry(stack []uint64) (int, error) {
	if len(stack) == 0 || stack[0] > uint64(len(stack)) {
		return 0, errStack
	}
	at := int(stack[0]) + 2 // their number, the arguments, and 0
	for at < len(stack) && stack[at] != 0 {
		at++
	}
	for at++; at+1 < len(stack); at += 2 {
		switch stack[at] {
		case auxVDSO:
			return at, nil
		case auxEnd:
			return -1, nil
		}
	}
	return 0, errStack
}
