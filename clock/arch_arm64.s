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

// Ten additions, none of which waits for another.
#define TEN \
	ADD  R12, R2, R2 \
	ADD  R12, R3, R3 \
	ADD  R12, R4, R4 \
	ADD  R12, R5, R5 \
	ADD  R12, R6, R6 \
	ADD  R12, R7, R7 \
	ADD  R12, R8, R8 \
	ADD  R12, R9, R9 \
	ADD  R12, R10, R10 \
	ADD  R12, R11, R11

// func additions(rounds int)
//
// A round is 120 additions to 10 registers: none waits for the nine before it, so that they
// fill the ports of any core.
TEXT ·additions(SB), NOSPLIT, $0-8
	MOVD rounds+0(FP), R1
	MOVD $3, R12

round:
	TEN; TEN; TEN; TEN; TEN; TEN
	TEN; TEN; TEN; TEN; TEN; TEN
	SUBS $1, R1, R1
	BNE  round
	RET

// func dependentChain(rounds int)
//
// A round is 16 additions, each of which waits for the one before.
TEXT ·dependentChain(SB), NOSPLIT, $0-8
	MOVD rounds+0(FP), R1
	MOVD $3, R0
	MOVD $5, R2

round:
	ADD R2, R0, R0; ADD R2, R0, R0; ADD R2, R0, R0; ADD R2, R0, R0
	ADD R2, R0, R0; ADD R2, R0, R0; ADD R2, R0, R0; ADD R2, R0, R0
	ADD R2, R0, R0; ADD R2, R0, R0; ADD R2, R0, R0; ADD R2, R0, R0
	ADD R2, R0, R0; ADD R2, R0, R0; ADD R2, R0, R0; ADD R2, R0, R0
	SUBS $1, R1, R1
	BNE  round
	RET

// func spin(work int)
//
// A round is one mul, of 3 to 4 cycles; the loop's own decrement and branch
// run beside it.
TEXT ·spin(SB), NOSPLIT, $0-8
	MOVD work+0(FP), R1
	MOVD $3, R2
	MOVD $5, R3

round:
	SUBS $1, R1, R1
	BLT  done
	MUL  R3, R2, R2
	B    round

done:
	RET

// func counterGaps(last, until, threshold, long int64, gaps []Gap) (n int, now int64)
TEXT ·counterGaps(SB), NOSPLIT, $0-72
	MOVD last+0(FP), R1
	MOVD until+8(FP), R2
	MOVD threshold+16(FP), R3
	MOVD long+24(FP), R4
	MOVD gaps_base+32(FP), R5
	MOVD gaps_len+40(FP), R6
	MOVD ZR, R7
	MOVD $(1<<20), R9 // mostWatched

next:
	SUBS $1, R9, R9
	BLT  done
	MRS  CNTVCT_EL0, R0
	SUB  R1, R0, R8
	CMP  R3, R8
	BGT  gap
	MOVD R0, R1
	CMP  R2, R0
	BLT  next
	B    done

gap:
	MOVD R1, (R5)
	MOVD R0, 8(R5)
	ADD  $16, R5
	ADD  $1, R7
	MOVD R0, R1
	CMP  R6, R7
	BGE  done
	CMP  R4, R8
	BGT  done
	CMP  R2, R0
	BLT  next

done:
	MOVD R7, n+56(FP)
	MOVD R1, now+64(FP)
	RET

// func counterFrequency() int64
TEXT ·counterFrequency(SB), NOSPLIT, $0-8
	MRS  CNTFRQ_EL0, R0
	MOVD R0, ret+0(FP)
	RET
