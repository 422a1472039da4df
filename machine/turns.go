package machine

import "time"

// Since version 6.12, Linux takes the sched_runtime of an ordinary thread (sched_setattr(2)) as
// the length of its time slices, between 0.1 and 100 ms. Older kernels ignore it.
//
// LongTurns is the request that led to the longest uninterrupted runs next to ten competitors: with
// Linux 6.18 a thread ran for 5.4 ms at a time when it asked for 20 ms, for 3.1 ms when it asked for
// 100 ms, and for 1.4 ms when it asked for nothing. A thread that asks for more than others is
// scheduled after them, and loses the CPU sooner.
const LongTurns = 20 * time.Millisecond
