#include "textflag.h"

// func dependentChain(rounds int)
//
// A round is 16 additions, each of which waits for the one before.
TEXT ·dependentChain(SB), NOSPLIT, $0-8
	MOVD rounds+0(FP), R1
	MOVD $3, R0
	MOVD $5, R2

round:
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	ADD  R2, R0, R0
	SUBS $1, R1, R1
	BNE  round
	RET
