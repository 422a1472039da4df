package machine

import "time"

// Since version 6.12, Linux takes the sched_runtime of an ordinary thread (sched_setattr(2)) as
// the length of its time slices, between 0.1 and 100 ms. Older kernels ignore it.
//
// LongTurns is the request that led to the longest uninterrupted runs next to ten competitors. A
// thread that asks for more is scheduled after those that ask for less, and loses the CPU sooner:
// with Linux 6.18 a thread ran for 5.4 ms at a time when it asked for 20 ms, for 3.1 ms when it
// asked for 100 ms, and usually for 1.4 ms.
const LongTurns = 20 * time.Millisecond
