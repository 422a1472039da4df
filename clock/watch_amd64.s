#include "textflag.h"

// The loop reads, compares with the reading before, and reads again; all but
// the reading hides behind it.

// func counterGaps(last, until, threshold, long int64, gaps []Gap) (n int, now int64)
TEXT ·counterGaps(SB), NOSPLIT, $0-72
	MOVQ last+0(FP), R8
	MOVQ until+8(FP), R9
	MOVQ threshold+16(FP), R10
	MOVQ long+24(FP), R11
	MOVQ gaps_base+32(FP), DI
	MOVQ gaps_len+40(FP), SI
	XORL BX, BX
	MOVQ $(1<<20), R12 // mostWatched

next:
	DECQ R12
	JLT  done
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, CX
	SUBQ R8, CX
	CMPQ CX, R10
	JGT  gap
	MOVQ AX, R8
	CMPQ AX, R9
	JLT  next
	JMP  done

gap:
	MOVQ R8, (DI)
	MOVQ AX, 8(DI)
	ADDQ $16, DI
	INCQ BX
	MOVQ AX, R8
	CMPQ BX, SI
	JGE  done
	CMPQ CX, R11
	JGT  done
	CMPQ AX, R9
	JLT  next

done:
	MOVQ BX, n+56(FP)
	MOVQ R8, now+64(FP)
	RET
