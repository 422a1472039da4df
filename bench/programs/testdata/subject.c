// The programs that are measured: one thread each, of work whose length is known.
//
//   subject chain ROUNDS                 a chain of dependent multiplications
//   subject alternate ROUNDS TIMES NS    the chain and a sleep of NS, so many times
//   subject deadline ROUNDS NS           the chain, then asleep until NS after the start
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const long second = 1000000000;

static uint64_t chain(long rounds) {
	uint64_t x = 1;
	for (long i = 0; i < rounds; i++) {
		x *= 6364136223846793005u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static struct timespec after(struct timespec t, long ns) {
	t.tv_nsec += ns % second;
	t.tv_sec += ns / second + t.tv_nsec / second;
	t.tv_nsec %= second;
	return t;
}

int main(int count, char **words) {
	struct timespec begun;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	const char *kind = count > 2 ? words[1] : "";
	long rounds = count > 2 ? atol(words[2]) : 0;
	if (!strcmp(kind, "chain")) {
		chain(rounds);
	} else if (!strcmp(kind, "alternate") && count == 5) {
		struct timespec pause = after((struct timespec){0, 0}, atol(words[4]));
		for (long i = atol(words[3]); i > 0; i--) {
			chain(rounds);
			nanosleep(&pause, NULL);
		}
	} else if (!strcmp(kind, "deadline") && count == 4) {
		struct timespec until = after(begun, atol(words[3]));
		chain(rounds);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	} else {
		return 2;
	}
	return 0;
}
