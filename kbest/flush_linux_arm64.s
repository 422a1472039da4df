#include "textflag.h"

// func flushLines(from, bytes uintptr)
//
// DC CIVAC cleans and invalidates a line to the point of coherency. CTR_EL0 tells
// the shortest line of the data caches, as a power of two of words (Arm
// Architecture Reference Manual, CTR_EL0.DminLine).
TEXT ·flushLines(SB), NOSPLIT, $0-16
	MOVD from+0(FP), R0
	MOVD bytes+8(FP), R1
	CBZ  R1, done
	ADD  R0, R1, R1
	MRS  CTR_EL0, R2
	UBFX $16, R2, $4, R2
	MOVD $4, R3
	LSL  R2, R3, R3
	SUB  $1, R3, R4
	BIC  R4, R0, R0

line:
	DC  CIVAC, R0
	ADD R3, R0, R0
	CMP R1, R0
	BLO line

done:
	DSB $15
	RET
