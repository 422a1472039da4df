#include "textflag.h"

// C code runs in the lower part of a large frame, and so below a stack pointer
// that is moved up to the frame's top, aligned to 16 bytes as the procedure
// call standard demands. The result lies just above it. C code keeps R20, the
// stack pointer meanwhile, and R21, the signal stack's lowest word, which holds
// the goroutine while C code runs.
// The frames are STACK and 64 bytes large.
#define STACK 8192

#define ENTER \
	MOVD ·toThread(SB), R10 \
	MOVD (g)(R10), R10      \
	MOVD ·toSignal(SB), R11 \
	MOVD (R10)(R11), R10    \
	MOVD (R10), R21         \
	MOVD g, (R21)           \
	MOVD RSP, R20           \
	MOVD $STACK, R10        \
	ADD  R20, R10           \
	ADD  $15, R10           \
	AND  $~15, R10          \
	MOVD R10, RSP

#define LEAVE \
	MOVD ZR, (R21)          \
	MOVD R20, RSP

// func callClockGettime(function, id uintptr) (seconds, nanoseconds int64)
TEXT ·callClockGettime(SB), 0, $8256-32
	MOVD function+0(FP), R9
	MOVD id+8(FP), R0
	ENTER
	MOVD RSP, R1
	BL   (R9)
	MOVD 0(RSP), R0
	MOVD 8(RSP), R1
	LEAVE
	MOVD R0, seconds+16(FP)
	MOVD R1, nanoseconds+24(FP)
	RET

// func callGettimeofday(function uintptr) (seconds, microseconds int64)
TEXT ·callGettimeofday(SB), 0, $8256-24
	MOVD function+0(FP), R9
	ENTER
	MOVD RSP, R0
	MOVD ZR, R1
	BL   (R9)
	MOVD 0(RSP), R0
	MOVD 8(RSP), R1
	LEAVE
	MOVD R0, seconds+8(FP)
	MOVD R1, microseconds+16(FP)
	RET

// func goroutine() uintptr
TEXT ·goroutine(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET
