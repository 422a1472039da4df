/* A probe for the timers of C; see docs/probe-protocol.md. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define MOST 100000
#define MOST_THREADS 64

static void spin(long rounds) {
	uint64_t x = 1;
	for (long i = 0; i < rounds; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

/* A timer, with loops of its own, so that the compiler sees the call in them. */
struct timer {
	const char *name, *kind, *scope, *more;
	double unit_ns;
	int64_t (*read)(void);
	void (*reads)(int64_t *into, long n);
	void (*calls)(long batch);
	int64_t first;
};

#define LOOPS(id, expression)                                                     \
	static int64_t read_##id(void) { return expression; }                         \
	static void reads_##id(int64_t *into, long n) {                               \
		for (long i = 0; i < n; i++) into[i] = read_##id();                       \
	}                                                                             \
	static void calls_##id(long batch) {                                          \
		for (long i = 0; i < batch; i++) {                                        \
			int64_t t = read_##id();                                              \
			__asm__ volatile("" : : "r"(t));                                      \
		}                                                                         \
	}
#define TIMER(id, name, kind, scope, unit_ns, more) \
	{name, kind, scope, more, unit_ns, read_##id, reads_##id, calls_##id, 0}

static inline int64_t gettime(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline int64_t of_day(void) {
	struct timeval t;
	gettimeofday(&t, 0);
	return t.tv_sec * 1000000LL + t.tv_usec;
}

static inline int64_t c11(void) {
	struct timespec t;
	timespec_get(&t, TIME_UTC);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline int64_t used(void) {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000LL + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static inline int64_t all_times(void) {
	struct tms t;
	times(&t);
	return t.tms_utime + t.tms_stime;
}

LOOPS(realtime, gettime(CLOCK_REALTIME))
LOOPS(monotonic, gettime(CLOCK_MONOTONIC))
LOOPS(process, gettime(CLOCK_PROCESS_CPUTIME_ID))
LOOPS(thread, gettime(CLOCK_THREAD_CPUTIME_ID))
#ifdef CLOCK_MONOTONIC_RAW
LOOPS(raw, gettime(CLOCK_MONOTONIC_RAW))
#endif
#ifdef CLOCK_MONOTONIC_COARSE
LOOPS(realtime_coarse, gettime(CLOCK_REALTIME_COARSE))
LOOPS(monotonic_coarse, gettime(CLOCK_MONOTONIC_COARSE))
LOOPS(boottime, gettime(CLOCK_BOOTTIME))
LOOPS(tai, gettime(CLOCK_TAI))
#endif
LOOPS(gettimeofday, of_day())
LOOPS(timespec_get, c11())
LOOPS(times, all_times())
LOOPS(clock, clock())
LOOPS(getrusage, used())

#define CALENDAR ",\"calendar\":true,\"settable\":true"

static struct timer timers[] = {
	TIMER(monotonic, "clock_gettime(CLOCK_MONOTONIC)", "wall", "machine", 1, ""),
#ifdef CLOCK_MONOTONIC_RAW
	TIMER(raw, "clock_gettime(CLOCK_MONOTONIC_RAW)", "wall", "machine", 1, ""),
#endif
	TIMER(realtime, "clock_gettime(CLOCK_REALTIME)", "wall", "machine", 1, CALENDAR),
#ifdef CLOCK_MONOTONIC_COARSE
	TIMER(boottime, "clock_gettime(CLOCK_BOOTTIME)", "wall", "machine", 1, ",\"counts_suspend\":\"yes\""),
	TIMER(tai, "clock_gettime(CLOCK_TAI)", "wall", "machine", 1, ",\"settable\":true"),
	TIMER(monotonic_coarse, "clock_gettime(CLOCK_MONOTONIC_COARSE)", "wall", "machine", 1, ""),
	TIMER(realtime_coarse, "clock_gettime(CLOCK_REALTIME_COARSE)", "wall", "machine", 1, CALENDAR),
#endif
	TIMER(process, "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)", "cpu", "process", 1, ""),
	TIMER(thread, "clock_gettime(CLOCK_THREAD_CPUTIME_ID)", "cpu", "thread", 1, ""),
	TIMER(gettimeofday, "gettimeofday", "wall", "machine", 1e3, CALENDAR),
	TIMER(timespec_get, "timespec_get", "wall", "machine", 1, CALENDAR),
	TIMER(times, "times", "cpu", "process", 0, ""), /* its unit is asked for */
	TIMER(clock, "clock", "cpu", "process", 1e9 / CLOCKS_PER_SEC, ""),
	TIMER(getrusage, "getrusage", "cpu", "process", 1e3, ""),
};
#define TIMERS (sizeof timers / sizeof *timers)

static void no_calls(long batch) {
	for (long i = 0; i < batch; i++) __asm__ volatile("");
}

static struct timer *named(const char *name) {
	for (size_t i = 0; i < TIMERS; i++)
		if (strcmp(timers[i].name, name) == 0) return &timers[i];
	return 0;
}

static void hello(void) {
	printf("{\"protocol\":1,\"runtime\":\"c\",\"version\":\"" __VERSION__ "\",\"warmup\":\"none: it is compiled\",\"timers\":[");
	for (size_t i = 0; i < TIMERS; i++)
		printf("%s{\"name\":\"%s\",\"kind\":\"%s\",\"scope\":\"%s\",\"unit_ns\":%.17g%s}", i ? "," : "",
		       timers[i].name, timers[i].kind, timers[i].scope, timers[i].unit_ns, timers[i].more);
	puts("]}");
}

static int64_t taken[2 * MOST];
static int who[MOST];

static void words(long n) {
	for (long i = 0; i < n; i++) printf("%lld%c", (long long)taken[i], i + 1 < n ? ' ' : '\n');
}

static void words_of_pairs(long n) {
	for (long i = 0; i < n; i++)
		printf("%lld,%lld%c", (long long)taken[2 * i], (long long)taken[2 * i + 1], i + 1 < n ? ' ' : '\n');
}

static void reads(struct timer *t, long n) {
	t->reads(taken, n);
	for (long i = 0; i < n; i++) taken[i] -= t->first;
	words(n);
}

static void pairs(struct timer *t, long work, long n) {
	for (long i = 0; i < n; i++) {
		taken[2 * i] = t->read();
		spin(work);
		taken[2 * i + 1] = t->read();
	}
	for (long i = 0; i < 2 * n; i++) taken[i] -= t->first;
	words_of_pairs(n);
}

static void cost(void (*calls)(long), struct timer *reference, long batch, long n) {
	for (long i = 0; i < n; i++) {
		int64_t begin = reference->read();
		calls(batch);
		taken[i] = reference->read() - begin;
	}
	words(n);
}

static struct {
	struct timer *timer;
	long many, n, turn;
	int over; /* it can't be played to the end */
} game;

static void *play(void *argument) {
	long me = (long)(intptr_t)argument;
	for (long mine = me; mine < game.n; mine += game.many) {
		while (__atomic_load_n(&game.turn, __ATOMIC_ACQUIRE) != mine) {
			if (__atomic_load_n(&game.over, __ATOMIC_ACQUIRE)) return 0;
			sched_yield();
		}
		taken[mine] = game.timer->read() - game.timer->first;
		who[mine] = (int)me;
		__atomic_store_n(&game.turn, mine + 1, __ATOMIC_RELEASE);
	}
	return 0;
}

static void in_threads(struct timer *t, long many, long n) {
	pthread_t threads[MOST_THREADS];
	game.timer = t, game.many = many, game.n = n, game.turn = 0, game.over = 0;
	long started = 0;
	while (started < many && pthread_create(&threads[started], 0, play, (void *)(intptr_t)started) == 0) started++;
	__atomic_store_n(&game.over, started < many, __ATOMIC_RELEASE);
	for (long i = 0; i < started; i++) pthread_join(threads[i], 0);
	if (started < many) {
		puts("error threads can't be started");
		return;
	}
	for (long i = 0; i < n; i++) printf("%d,%lld%c", who[i], (long long)taken[i], i + 1 < n ? ' ' : '\n');
}

static void sandwich(struct timer *outer, struct timer *inner, int sleeps, long amount, long n) {
	struct timespec nap = {amount / 1000, amount % 1000 * 1000000};
	for (long i = 0; i < n; i++) {
		int64_t a = outer->read(), b = inner->read();
		if (sleeps)
			nanosleep(&nap, 0);
		else
			spin(amount);
		int64_t c = inner->read();
		taken[2 * i] = outer->read() - a, taken[2 * i + 1] = c - b;
	}
	words_of_pairs(n);
}

static int count(long n) { return n >= 1 && n <= MOST; }

static void answer(char *line) {
	char a[128], b[128], c[16];
	long x, y;
	if (strcmp(line, "hello") == 0) {
		hello();
	} else if (sscanf(line, "reads %127s %ld", a, &x) == 2 && named(a) && count(x)) {
		reads(named(a), x);
	} else if (sscanf(line, "pairs %127s %ld %ld", a, &x, &y) == 3 && named(a) && count(y)) {
		pairs(named(a), x, y);
	} else if (sscanf(line, "cost none %127s %ld %ld", b, &x, &y) == 3 && named(b) && count(y)) {
		cost(no_calls, named(b), x, y);
	} else if (sscanf(line, "cost %127s %127s %ld %ld", a, b, &x, &y) == 4 && named(a) && named(b) && count(y)) {
		cost(named(a)->calls, named(b), x, y);
	} else if (sscanf(line, "threads %127s %ld %ld", a, &x, &y) == 3 && named(a) && x >= 1 && x <= MOST_THREADS && count(y)) {
		in_threads(named(a), x, y);
	} else if (sscanf(line, "sandwich %127s %127s %15s %ld %ld", a, b, c, &x, &y) == 5 && named(a) && named(b) && count(y)) {
		sandwich(named(a), named(b), strcmp(c, "sleep") == 0, x, y);
	} else {
		printf("error there is no such command, timer or number: %s\n", line);
	}
}

int main(void) {
	static char line[1024];
	for (size_t i = 0; i < TIMERS; i++) {
		if (timers[i].unit_ns == 0) timers[i].unit_ns = 1e9 / (double)sysconf(_SC_CLK_TCK);
		timers[i].first = timers[i].read();
	}
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\r\n")] = 0;
		if (strcmp(line, "quit") == 0) break;
		answer(line);
		fflush(stdout);
	}
	return 0;
}
