// Package process starts a program and reads what the kernel counted of it, of all its threads, and of all
// processes that it started in turn.
//
// The kernel's counters of a thread are gone when the thread is. So, if that is allowed, the program is traced
// (ptrace(2)): each thread stops as it exits, its counters are read, and it continues. Tracing needs no rights.
// Between start and exit it slows only the start of threads and the delivery of signals. If tracing is
// forbidden, only what wait4(2) tells is known, and the run-queue wait of the first thread.
package process
