#include "textflag.h"

// C code runs in the lower part of a large frame, and so below a stack pointer
// that is moved up to the frame's top, aligned to 16 bytes as the System V ABI
// demands. The result lies just above it. R12 is kept by C code, and holds the
// stack pointer meanwhile. The registers that Go itself relies on are set anew
// on the way back to Go.
// The frames are STACK and 64 bytes large.
#define STACK 8192

#define ENTER \
	MOVQ SP, R12            \
	LEAQ (STACK+15)(SP), AX \
	ANDQ $~15, AX           \
	MOVQ AX, SP

// func callClockGettime(function, id uintptr) (seconds, nanoseconds int64)
TEXT ·callClockGettime(SB), 0, $8256-32
	MOVQ function+0(FP), R13
	MOVQ id+8(FP), DI
	ENTER
	MOVQ SP, SI
	CALL R13
	MOVQ 0(SP), AX
	MOVQ 8(SP), DX
	MOVQ R12, SP
	MOVQ AX, seconds+16(FP)
	MOVQ DX, nanoseconds+24(FP)
	RET

// func callGettimeofday(function uintptr) (seconds, microseconds int64)
TEXT ·callGettimeofday(SB), 0, $8256-24
	MOVQ function+0(FP), R13
	ENTER
	MOVQ SP, DI
	XORL SI, SI
	CALL R13
	MOVQ 0(SP), AX
	MOVQ 8(SP), DX
	MOVQ R12, SP
	MOVQ AX, seconds+8(FP)
	MOVQ DX, microseconds+16(FP)
	RET

// func callTime(function uintptr) (seconds int64)
TEXT ·callTime(SB), 0, $8256-16
	MOVQ function+0(FP), R13
	ENTER
	XORL DI, DI
	CALL R13
	MOVQ R12, SP
	MOVQ AX, seconds+8(FP)
	RET
