// Package process starts a program and takes what the kernel counted of it, of all
// its threads, and of all processes that it started in turn.
//
// What the kernel counts of a thread is gone when the thread is. Where it is
// allowed, the program is therefore traced (ptrace(2)): each thread stops as it
// exits, its counters are read, and it goes on. Between start and exit nothing is
// slowed but the start of threads and the delivery of signals. No rights are
// needed. Where tracing is forbidden, only what wait4(2) tells is known, and of the
// run-queue wait that of the first thread.
package process
