#include "textflag.h"

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
