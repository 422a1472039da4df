#include "textflag.h"

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
