#include "textflag.h"

// func count(at unsafe.Pointer, from, n int64)
//
// The count is kept in a register and stored by a plain store, which needs no other to
// be ordered with. Four multiplications, each of which waits for the one before, keep
// the stores that wait for the cache line few.
TEXT ·count(SB), NOSPLIT, $0-24
	MOVD at+0(FP), R0
	MOVD from+8(FP), R1
	MOVD n+16(FP), R2
	MOVD $3, R3
	MOVD $5, R4

again:
	SUBS $1, R2, R2
	BLT  done
	ADD  $1, R1, R1
	MOVD R1, (R0)
	MUL  R4, R3, R3
	MUL  R4, R3, R3
	MUL  R4, R3, R3
	MUL  R4, R3, R3
	B    again

done:
	RET
