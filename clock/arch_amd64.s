#include "textflag.h"

// RDTSC is not serialising: the processor may read the counter before earlier
// instructions have ended and after later ones have begun. LFENCE waits until
// every earlier instruction has ended and holds back every later one (on AMD
// where the kernel has made LFENCE dispatch serialising, which Linux does).
// RDTSCP itself waits for the earlier instructions, but does not hold back the
// later ones. See the Intel manual, volume 2, RDTSC and RDTSCP, and the AMD64
// manual, volume 3.

// The counter comes in two halves, in DX and AX.
#define JOIN \
	SHLQ $32, DX \
	ORQ  DX, AX

// func counter() int64
TEXT ·counter(SB), NOSPLIT, $0-8
	RDTSC
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// func counterFenced() int64
TEXT ·counterFenced(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// func counterP() int64
TEXT ·counterP(SB), NOSPLIT, $0-8
	RDTSCP
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// func counterStart() int64
//
// The first fence lets earlier work end, so that it isn't timed; the second
// holds the region back until the counter has been read.
TEXT ·counterStart(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	LFENCE
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// func counterEndP() int64
//
// RDTSCP waits for the region's end by itself; the fence keeps later work from
// starting before the counter has been read.
TEXT ·counterEndP(SB), NOSPLIT, $0-8
	RDTSCP
	LFENCE
	JOIN
	MOVQ AX, ret+0(FP)
	RET

// A chain of readings: R8 rounds of a multiplication that waits for the one
// before (through all readings, so that rounds of two readings can't overlap),
// one reading into the array at DI, and on, SI times.
#define CHAIN(READING) \
	MOVQ  $3, BX \
	MOVQ  $5, R9 \
next:            \
	DECQ  SI     \
	JLT   done   \
	MOVQ  R8, CX \
round:           \
	DECQ  CX     \
	JLT   read   \
	IMULQ R9, BX \
	JMP   round  \
read:            \
	READING      \
	JOIN         \
	MOVQ  AX, (DI) \
	ADDQ  $8, DI \
	JMP   next   \
done:            \
	RET

#define FENCED \
	LFENCE \
	RDTSC

// func counterChain(work int, ticks []int64)
TEXT ·counterChain(SB), NOSPLIT, $0-32
	MOVQ work+0(FP), R8
	MOVQ ticks_base+8(FP), DI
	MOVQ ticks_len+16(FP), SI
	CHAIN(RDTSC)

// func counterFencedChain(work int, ticks []int64)
TEXT ·counterFencedChain(SB), NOSPLIT, $0-32
	MOVQ work+0(FP), R8
	MOVQ ticks_base+8(FP), DI
	MOVQ ticks_len+16(FP), SI
	CHAIN(FENCED)

// func counterPChain(work int, ticks []int64)
TEXT ·counterPChain(SB), NOSPLIT, $0-32
	MOVQ work+0(FP), R8
	MOVQ ticks_base+8(FP), DI
	MOVQ ticks_len+16(FP), SI
	CHAIN(RDTSCP)

// Ten additions, none of which waits for another.
#define TEN \
	ADDQ R13, AX \
	ADDQ R13, BX \
	ADDQ R13, DX \
	ADDQ R13, SI \
	ADDQ R13, DI \
	ADDQ R13, R8 \
	ADDQ R13, R9 \
	ADDQ R13, R10 \
	ADDQ R13, R11 \
	ADDQ R13, R12

// func additions(rounds int)
//
// A round is 120 additions to 10 registers: none waits for the nine before it, so that they
// fill the ports of any core.
TEXT ·additions(SB), NOSPLIT, $0-8
	MOVQ rounds+0(FP), CX
	MOVQ $3, R13

round:
	TEN; TEN; TEN; TEN; TEN; TEN
	TEN; TEN; TEN; TEN; TEN; TEN
	DECQ CX
	JNZ  round
	RET

// func dependentChain(rounds int)
//
// A round is 16 multiplications, each of which waits for the one before.
TEXT ·dependentChain(SB), NOSPLIT, $0-8
	MOVQ rounds+0(FP), CX
	MOVQ $3, AX

round:
	IMULQ AX, AX; IMULQ AX, AX; IMULQ AX, AX; IMULQ AX, AX
	IMULQ AX, AX; IMULQ AX, AX; IMULQ AX, AX; IMULQ AX, AX
	IMULQ AX, AX; IMULQ AX, AX; IMULQ AX, AX; IMULQ AX, AX
	IMULQ AX, AX; IMULQ AX, AX; IMULQ AX, AX; IMULQ AX, AX
	DECQ  CX
	JNZ   round
	RET

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

// func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL subleaf+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	MOVL CX, ecx+16(FP)
	MOVL DX, edx+20(FP)
	RET
