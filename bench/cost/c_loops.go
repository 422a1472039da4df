//go:build cgo && (amd64 || arm64)

package main

/*
#cgo CFLAGS: -O2
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t counter(void) { return __rdtsc(); }
#else
static inline uint64_t counter(void) {
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#endif

static uint64_t readInline(long n) {
	uint64_t sum = 0;
	for (long i = 0; i < n; i++) sum += counter();
	return sum;
}

__attribute__((noinline)) static uint64_t called(void) { return counter(); }

static uint64_t readCalled(long n) {
	uint64_t sum = 0;
	for (long i = 0; i < n; i++) sum += called();
	return sum;
}

// The array is written through volatile, so that every reading is stored.
static uint64_t readBatch(long n, long batch) {
	static volatile uint64_t ticks[4096];
	for (; n > 0; n -= batch) {
		long m = n < batch ? n : batch;
		for (long i = 0; i < m; i++) ticks[i] = counter();
	}
	return ticks[0];
}
*/
import "C"

// cSubjects returns subjects that read the bare counter in C. The loops are in C too: a call from Go to C costs
// several readings, and is made once for all of them.
func cSubjects() []subject {
	return []subject{
		{cInline, func(n int) int64 { return int64(C.readInline(C.long(n))) }},
		{cCalled, func(n int) int64 { return int64(C.readCalled(C.long(n))) }},
		{cBatch, func(n int) int64 { return int64(C.readBatch(C.long(n), batch)) }},
	}
}
