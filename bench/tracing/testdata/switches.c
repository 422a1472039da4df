// Two threads on one CPU that take turns after a stretch of work, and wake threads of another process on
// another CPU.
//
//   switches CPU OTHER_CPU ROUNDS TURNS WAKES     each turn computes ROUNDS, and wakes WAKES threads
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long rounds, turns, wakes;
static uint32_t *sleepers, turn;

static void futex(uint32_t *word, int operation, uint32_t value) {
	syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void stay(int cpu) {
	cpu_set_t only;
	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	if (sched_setaffinity(0, sizeof only, &only)) exit(1);
}

static void chain(long n) {
	uint64_t x = 1;
	for (long i = 0; i < n; i++) {
		x *= 6364136223846793005u;
		__asm__ volatile("" : "+r"(x));
	}
}

static void *sleeper(void *word) {
	for (;;) futex(word, FUTEX_WAIT, 0);
}

static void *player(void *mine) {
	uint32_t me = (uintptr_t)mine;
	for (long i = 0; i < turns; i++) {
		uint32_t now;
		while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != me) futex(&turn, FUTEX_WAIT_PRIVATE, now);
		chain(rounds);
		for (long j = 0; j < wakes; j++) futex(&sleepers[j], FUTEX_WAKE, 1);
		__atomic_store_n(&turn, 1 - me, __ATOMIC_RELEASE);
		futex(&turn, FUTEX_WAKE_PRIVATE, 1);
	}
	return NULL;
}

int main(int count, char **words) {
	if (count != 6) return 2;
	rounds = atol(words[3]), turns = atol(words[4]), wakes = atol(words[5]);
	sleepers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sleepers == MAP_FAILED || wakes > 1024) return 1;
	if (!fork()) {
		pthread_t each;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		stay(atoi(words[2]));
		for (long i = 1; i < wakes; i++) pthread_create(&each, NULL, sleeper, &sleepers[i]);
		sleeper(&sleepers[0]);
	}
	stay(atoi(words[1]));
	pthread_t second;
	pthread_create(&second, NULL, player, (void *)1);
	player(0);
	pthread_join(second, NULL);
	return 0;
}
