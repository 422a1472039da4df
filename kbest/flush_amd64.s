#include "textflag.h"

// func flushLines(from, bytes uintptr)
//
// Lines are of 64 bytes on every amd64 processor so far; on one with longer lines
// the loop only flushes some twice. The fences keep the flushes apart from the
// program's own accesses before and after.
TEXT ·flushLines(SB), NOSPLIT, $0-16
	MOVQ from+0(FP), AX
	MOVQ bytes+8(FP), CX
	MFENCE
	TESTQ CX, CX
	JZ   done
	ADDQ AX, CX
	ANDQ $~63, AX

line:
	CLFLUSH (AX)
	ADDQ $64, AX
	CMPQ AX, CX
	JLO  line

done:
	MFENCE
	RET
