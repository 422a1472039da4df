#include "textflag.h"

// RDTSC is not serialising: the processor may read the counter before earlier
// instructions have ended and after later ones have begun. LFENCE waits until
// every earlier instruction has ended and holds back every later one (on AMD
// where the kernel has made LFENCE dispatch serialising, which Linux does).
// RDTSCP itself waits for the earlier instructions, but does not hold back the
// later ones. See the Intel manual, volume 2, RDTSC and RDTSCP, and the AMD64
// manual, volume 3.

// The counter comes in two halves, in DX and AX.
#define JOIN \
	SHLQ $32, DX \
	ORQ  DX, AX

// func counter() int64
TEXT ·counter(SB), NOSPLIT, $0-8
	RDTSC
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// func counterFenced() int64
TEXT ·counterFenced(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// func counterP() int64
TEXT ·counterP(SB), NOSPLIT, $0-8
	RDTSCP
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// func counterStart() int64
//
// The first fence lets earlier work end, so that it isn't timed; the second
// holds the region back until the counter has been read.
TEXT ·counterStart(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	LFENCE
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// func counterEndP() int64
//
// RDTSCP waits for the region's end by itself; the fence keeps later work from
// starting before the counter has been read.
TEXT ·counterEndP(SB), NOSPLIT, $0-8
	RDTSCP
	LFENCE
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// A chain of readings: R8 rounds of a multiplication that waits for the one
// before (through all readings, so that rounds of two readings can't overlap),
// one reading into the array at DI, and on, SI times.
#define CHAIN(READING) \
	MOVQ  $3, BX \
	MOVQ  $5, R9 \
next:            \
	DECQ  SI     \
	JLT   done   \
	MOVQ  R8, CX \
round:           \
	DECQ  CX     \
	JLT   read   \
	IMULQ R9, BX \
	JMP   round  \
read:            \
	READING      \
	JOIN         \
	MOVQ  AX, (DI) \
	ADDQ  $8, DI \
	JMP   next   \
done:            \
	RET

#define FENCED \
	LFENCE \
	RDTSC

// func counterChain(work int, ticks []int64)
TEXT ·counterChain(SB), NOSPLIT, $0-32
	MOVQ work+0(FP), R8
	MOVQ ticks_base+8(FP), DI
	MOVQ ticks_len+16(FP), SI
	CHAIN(RDTSC)

// func counterFencedChain(work int, ticks []int64)
TEXT ·counterFencedChain(SB), NOSPLIT, $0-32
	MOVQ work+0(FP), R8
	MOVQ ticks_base+8(FP), DI
	MOVQ ticks_len+16(FP), SI
	CHAIN(FENCED)

// func counterPChain(work int, ticks []int64)
TEXT ·counterPChain(SB), NOSPLIT, $0-32
	MOVQ work+0(FP), R8
	MOVQ ticks_base+8(FP), DI
	MOVQ ticks_len+16(FP), SI
	CHAIN(RDTSCP)
