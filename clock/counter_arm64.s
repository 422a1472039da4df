#include "textflag.h"

// A reading of CNTVCT_EL0 may be taken early, out of program order. An ISB
// before it makes every earlier instruction end first, one after it makes
// every later instruction start anew behind it (Arm Architecture Reference
// Manual, "The Generic Timer", on the ordering of counter reads).

// func counter() int64
TEXT ·counter(SB), NOSPLIT, $0-8
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func counterFenced() int64
TEXT ·counterFenced(SB), NOSPLIT, $0-8
	ISB  $15
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func counterStart() int64
//
// Opening a region, the first barrier keeps earlier work out of it and the
// second holds the region back until the counter has been read. Closing one,
// the first lets the region end and the second keeps later work out.
TEXT ·counterStart(SB), NOSPLIT, $0-8
	ISB  $15
	MRS  CNTVCT_EL0, R0
	ISB  $15
	MOVD R0, ret+0(FP)
	RET

// A chain of readings: R1 rounds of a multiplication that waits for the one
// before (through all readings, so that rounds of two readings can't overlap),
// one reading into the array at R2, and on, R3 times.
#define CHAIN(READING) \
	MOVD $3, R4     \
	MOVD $5, R5     \
next:               \
	SUBS $1, R3, R3 \
	BLT  done       \
	MOVD R1, R6     \
round:              \
	SUBS $1, R6, R6 \
	BLT  read       \
	MUL  R5, R4, R4 \
	B    round      \
read:               \
	READING         \
	MOVD.P R0, 8(R2) \
	B    next       \
done:               \
	RET

#define BARE \
	MRS CNTVCT_EL0, R0

#define FENCED \
	ISB $15 \
	MRS CNTVCT_EL0, R0

// func counterChain(work int, ticks []int64)
TEXT ·counterChain(SB), NOSPLIT, $0-32
	MOVD work+0(FP), R1
	MOVD ticks_base+8(FP), R2
	MOVD ticks_len+16(FP), R3
	CHAIN(BARE)

// func counterFencedChain(work int, ticks []int64)
TEXT ·counterFencedChain(SB), NOSPLIT, $0-32
	MOVD work+0(FP), R1
	MOVD ticks_base+8(FP), R2
	MOVD ticks_len+16(FP), R3
	CHAIN(FENCED)
