#include "textflag.h"

// func spin(work int)
//
// A round is one imul r64, r64, of 3 cycles; the loop's own decrement and
// branch run beside it.
TEXT ·spin(SB), NOSPLIT, $0-8
	MOVQ work+0(FP), CX
	MOVQ $3, BX
	MOVQ $5, R9

round:
	DECQ  CX
	JLT   done
	IMULQ R9, BX
	JMP   round

done:
	RET
