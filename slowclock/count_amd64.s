#include "textflag.h"

// func count(at unsafe.Pointer, from, n int64)
//
// The count is kept in a register and stored by a plain MOV, which x86 makes visible
// to others in order (Intel SDM, volume 3A, section 8.2). A locked instruction would
// wait for the cache line each time that another thread has read it, and the count
// would fall behind at each reading. Four multiplications, each of which waits for the
// one before, make the period some 12 cycles, so that the stores that wait for the
// line fit the processor's buffer and hold up nothing.
TEXT ·count(SB), NOSPLIT, $0-24
	MOVQ at+0(FP), DI
	MOVQ from+8(FP), AX
	MOVQ n+16(FP), CX
	MOVQ $3, BX
	MOVQ $5, R9

again:
	DECQ  CX
	JLT   done
	INCQ  AX
	MOVQ  AX, (DI)
	IMULQ R9, BX
	IMULQ R9, BX
	IMULQ R9, BX
	IMULQ R9, BX
	JMP   again

done:
	RET
