#include "go_asm.h"
#include "textflag.h"

#define SYS_exit_group 94
#define SYS_rt_sigaction 134
#define SYS_prctl 167
#define SYS_clone 220

#define SIGILL 4
#define SIGTRAP 5
#define SIGBUS 7
#define SIGSEGV 11

#define PR_SET_DUMPABLE 4
#define PR_SET_TSC 26
#define PR_TSC_SIGSEGV 2

// The kernel's struct sigaction of zeros is SIG_DFL.
#define DEFAULT(SIGNAL) \
	MOVD $SIGNAL, R0            \
	MOVD $action-32(SP), R1     \
	MOVD $0, R2                 \
	MOVD $8, R3                 \
	MOVD $SYS_rt_sigaction, R8  \
	SVC

// func cloneTrial(i instruction, disable bool, exitSignal int) int
//
// The child uses system calls only and never enters Go code: other threads'
// locks are held forever in its copy of the process.
// Signals have their default actions there: gVisor calls Go's handlers although they are blocked.
TEXT ·cloneTrial(SB), NOSPLIT, $32-32
	MOVD  i+0(FP), R20
	MOVBU disable+8(FP), R21
	MOVD  ZR, action-32(SP)
	MOVD  ZR, action-24(SP)
	MOVD  ZR, action-16(SP)
	MOVD  ZR, action-8(SP)
	MOVD  exitSignal+16(FP), R0
	MOVD  $0, R1
	MOVD  $0, R2
	MOVD  $0, R3
	MOVD  $0, R4
	MOVD  $SYS_clone, R8
	SVC
	CBZ   R0, child
	MOVD  R0, ret+24(FP)
	RET

child:
	DEFAULT(SIGILL)
	DEFAULT(SIGTRAP)
	DEFAULT(SIGBUS)
	DEFAULT(SIGSEGV)

	MOVD $PR_SET_DUMPABLE, R0
	MOVD $0, R1
	MOVD $SYS_prctl, R8
	SVC

	CBZ  R21, run
	MOVD $PR_SET_TSC, R0
	MOVD $PR_TSC_SIGSEGV, R1
	MOVD $SYS_prctl, R8
	SVC

run:
	CMP $const_instructionCNTVCT, R20
	BEQ cntvct
	UNDEF

cntvct:
	MRS CNTVCT_EL0, R0

exit:
	MOVD $0, R0
	MOVD $SYS_exit_group, R8
	SVC
	B    exit
