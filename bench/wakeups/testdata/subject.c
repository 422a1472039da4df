// Programs that wait: for threads and processes of their own, for a server, and for timers. ROUNDS are of
// a chain of dependent multiplications.
//
//   subject chain ROUNDS
//   subject pool ROUNDS JOBS         four threads take jobs of ROUNDS from a queue
//   subject mutex ROUNDS TIMES       two threads compute, half of the time with a lock
//   subject pipeline ROUNDS BLOCKS   three processes, each of which computes ROUNDS for a block and passes it on
//   subject forks ROUNDS TIMES       computes, starts a child that computes, and waits for it
//   subject server ROUNDS SOCKET     answers each request after ROUNDS
//   subject client ROUNDS TIMES SOCKET
//   subject relative ROUNDS TIMES    computes and sleeps 5 ms
//   subject absolute ROUNDS TIMES    computes and sleeps until each tenth millisecond
//   subject epoll ROUNDS TIMES       computes and waits for nothing, 5 ms at most
//   subject timerfd ROUNDS TIMES     computes and reads a timer that repeats each 10 ms
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long rounds, times;

static void chain(long n) {
	uint64_t x = 1;
	for (long i = 0; i < n; i++) {
		x *= 6364136223846793005u;
		__asm__ volatile("" : "+r"(x));
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static long queued, finished, closed;

static void *worker(void *unused) {
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!queued && !closed) pthread_cond_wait(&jobs, &lock);
		if (!queued) break;
		queued--;
		pthread_mutex_unlock(&lock);
		chain(rounds);
		pthread_mutex_lock(&lock);
		finished++;
		pthread_cond_signal(&done);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

static void pool(void) {
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, NULL);
	pthread_mutex_lock(&lock);
	for (long i = 0; i < times; i++) {
		queued++;
		pthread_cond_signal(&jobs);
	}
	while (finished < times) pthread_cond_wait(&done, &lock);
	closed = 1;
	pthread_cond_broadcast(&jobs);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static void *fighter(void *unused) {
	for (long i = 0; i < times; i++) {
		chain(rounds);
		pthread_mutex_lock(&lock);
		chain(rounds);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void mutex(void) {
	pthread_t other;
	pthread_create(&other, NULL, fighter, NULL);
	fighter(NULL);
	pthread_join(other, NULL);
}

// stage passes blocks on.
static void stage(int in, int out) {
	char block[4096];
	while (read(in, block, sizeof block) > 0) {
		chain(rounds);
		if (out >= 0 && write(out, block, sizeof block) < 0) _exit(1);
	}
	_exit(0);
}

static void pipeline(void) {
	int first[2], second[2];
	char block[4096] = {0};
	if (pipe(first) || pipe(second)) exit(1);
	if (!fork()) {
		close(first[1]), close(second[0]);
		stage(first[0], second[1]);
	}
	close(first[0]), close(second[1]);
	if (!fork()) {
		close(first[1]);
		stage(second[0], -1);
	}
	close(second[0]);
	for (long i = 0; i < times; i++) {
		chain(rounds);
		if (write(first[1], block, sizeof block) < 0) exit(1);
	}
	close(first[1]);
	while (wait(NULL) > 0) {}
}

static void forks(void) {
	for (long i = 0; i < times; i++) {
		chain(rounds);
		if (!fork()) {
			chain(rounds);
			_exit(0);
		}
		wait(NULL);
	}
}

static struct sockaddr_un address(const char *name) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	strncpy(a.sun_path, name, sizeof a.sun_path - 1);
	return a;
}

static void server(const char *name) {
	struct sockaddr_un a = address(name);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	char c;
	if (bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 5)) exit(1);
	for (;;) {
		int peer = accept(listener, NULL, NULL);
		while (read(peer, &c, 1) == 1) {
			chain(rounds);
			if (write(peer, &c, 1) < 0) break;
		}
		close(peer);
	}
}

static void client(const char *name) {
	struct sockaddr_un a = address(name);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	char c = 0;
	if (connect(s, (struct sockaddr *)&a, sizeof a)) exit(1);
	for (long i = 0; i < times; i++) {
		chain(rounds);
		if (write(s, &c, 1) != 1 || read(s, &c, 1) != 1) exit(1);
	}
}

static void relative(void) {
	struct timespec pause = {0, 5000000};
	for (long i = 0; i < times; i++) {
		chain(rounds);
		nanosleep(&pause, NULL);
	}
	chain(rounds);
}

static void absolute(void) {
	struct timespec next;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (long i = 0; i < times; i++) {
		chain(rounds);
		if ((next.tv_nsec += 10000000) >= 1000000000) next.tv_nsec -= 1000000000, next.tv_sec++;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	chain(rounds);
}

static void polls(void) {
	int e = epoll_create1(0);
	struct epoll_event event;
	for (long i = 0; i < times; i++) {
		chain(rounds);
		epoll_wait(e, &event, 1, 5);
	}
	chain(rounds);
}

static void timer(void) {
	int t = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec each = {{0, 10000000}, {0, 10000000}};
	uint64_t n;
	timerfd_settime(t, 0, &each, NULL);
	for (long i = 0; i < times; i++) {
		chain(rounds);
		if (read(t, &n, sizeof n) < 0) exit(1);
	}
	chain(rounds);
}

int main(int count, char **words) {
	if (count < 4) return 2;
	const char *kind = words[1];
	rounds = atol(words[2]), times = atol(words[3]);
	if (!strcmp(kind, "chain")) chain(rounds);
	else if (!strcmp(kind, "pool")) pool();
	else if (!strcmp(kind, "mutex")) mutex();
	else if (!strcmp(kind, "pipeline")) pipeline();
	else if (!strcmp(kind, "forks")) forks();
	else if (!strcmp(kind, "server")) server(words[3]);
	else if (!strcmp(kind, "client") && count == 5) client(words[4]);
	else if (!strcmp(kind, "relative")) relative();
	else if (!strcmp(kind, "absolute")) absolute();
	else if (!strcmp(kind, "epoll")) polls();
	else if (!strcmp(kind, "timerfd")) timer();
	else return 2;
	return 0;
}
