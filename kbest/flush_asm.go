//go:build amd64 || (linux && arm64)

package kbest

// canFlush says whether programs may flush cache lines. Every amd64 processor has CLFLUSH, which needs no
// privilege (AMD64 manual, volume 3, CLFLUSH). On arm64 the system may allow DC CIVAC, and Linux does
// (Documentation/arch/arm64, SCTLR_EL1.UCI; if a processor's erratum forbids it, the kernel does it on the
// program's behalf).
const canFlush = true

// flushLines drops the lines of the given bytes from all caches, and returns when this is done.
//
//go:noescape
func flushLines(from, bytes uintptr)
