package machine

import "time"

// Turns of the scheduler, as a thread may ask for them (sched_setattr(2)): since
// version 6.12 Linux takes sched_runtime of an ordinary thread for the length of its
// time slices, between 0.1 and 100 ms. Older kernels take no notice.
//
// LongTurns were the longest seen beside ten competitors: who asks for more comes
// after those who ask for less, and loses the CPU sooner (5.4 ms at a time for 20 ms,
// 3.1 for 100 ms, 1.4 usually, with Linux 6.18).
const LongTurns = 20 * time.Millisecond
