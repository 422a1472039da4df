#include "textflag.h"

// func dependentChain(rounds int)
//
// A round is 16 multiplications, each of which waits for the one before.
TEXT ·dependentChain(SB), NOSPLIT, $0-8
	MOVQ rounds+0(FP), CX
	MOVQ $3, AX

round:
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	IMULQ AX, AX
	DECQ  CX
	JNZ   round
	RET
