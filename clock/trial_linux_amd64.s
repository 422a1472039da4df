#include "go_asm.h"
#include "textflag.h"

#define SYS_rt_sigaction 13
#define SYS_clone 56
#define SYS_prctl 157
#define SYS_exit_group 231

#define SIGILL 4
#define SIGTRAP 5
#define SIGBUS 7
#define SIGSEGV 11

#define PR_SET_DUMPABLE 4
#define PR_SET_TSC 26
#define PR_TSC_SIGSEGV 2

// The kernel's struct sigaction of zeros, at the stack pointer, is SIG_DFL.
#define DEFAULT(SIGNAL) \
	MOVL $SIGNAL, DI            \
	MOVQ SP, SI                 \
	XORL DX, DX                 \
	MOVL $8, R10                \
	MOVL $SYS_rt_sigaction, AX  \
	SYSCALL

// func cloneTrial(i instruction, disable bool, exitSignal int) int
//
// The child uses system calls only and never enters Go code: other threads'
// locks are held forever in its copy of the process.
// Signals have their default actions there: gVisor calls Go's handlers although they are blocked.
TEXT ·cloneTrial(SB), NOSPLIT, $32-32
	MOVQ    i+0(FP), R12
	MOVBLZX disable+8(FP), R13
	MOVQ    $0, 0(SP)
	MOVQ    $0, 8(SP)
	MOVQ    $0, 16(SP)
	MOVQ    $0, 24(SP)
	MOVQ    exitSignal+16(FP), DI
	XORL    SI, SI
	XORL    DX, DX
	XORL    R10, R10
	XORL    R8, R8
	MOVL    $SYS_clone, AX
	SYSCALL
	TESTQ   AX, AX
	JEQ     child
	MOVQ    AX, ret+24(FP)
	RET

child:
	DEFAULT(SIGILL)
	DEFAULT(SIGTRAP)
	DEFAULT(SIGBUS)
	DEFAULT(SIGSEGV)

	MOVL $PR_SET_DUMPABLE, DI
	XORL SI, SI
	MOVL $SYS_prctl, AX
	SYSCALL

	TESTL R13, R13
	JEQ   run
	MOVL  $PR_SET_TSC, DI
	MOVL  $PR_TSC_SIGSEGV, SI
	MOVL  $SYS_prctl, AX
	SYSCALL

run:
	CMPQ R12, $const_instructionRDTSC
	JEQ  rdtsc
	CMPQ R12, $const_instructionRDTSCP
	JEQ  rdtscp
	UD2

rdtsc:
	RDTSC
	JMP exit

rdtscp:
	RDTSCP

exit:
	XORL DI, DI
	MOVL $SYS_exit_group, AX
	SYSCALL
	JMP  exit
