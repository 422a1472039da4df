package offcpu

import "chronoscope/tracepoint"

// state is what a thread does, as far as is known from the events.
type state uint8

const (
	unknown state = iota
	running
	waiting // for a CPU
	blocked
	ended
)

// thread is the state of a thread, of the target or not.
type thread struct {
	process, id int32
	name        string
	cgroup      string
	quotas      []*Quota // of its control group and of those around it
	kernel      bool
	ours        bool
	forked      bool // not started yet
	silent      bool // it has given up a CPU without an event: the kernel leaves its events out
	begun       bool // by the target's parent: it is the target's once it has become another program
	state       state
	sinceNs     int64
	cpu         int32 // its present or last CPU; -1 if unknown
	blockedIn   tracepoint.State
	waitsIn     string // the kernel function in which it waits when the recording ends
	early       *wake  // a wake-up that came while it was running or waiting
	wokenNs     int64  // time of its last wake-up
	woken       wake
	// had lists the threads that have had the CPU since this thread began to wait for it, in
	// order of time, until chargedNs.
	had       []turn
	chargedNs int64
}

// turn is the time for which a thread had a CPU.
type turn struct {
	who Who
	ns  int64
}

// wake is the cause and the originator of a wake-up.
type wake struct {
	cause Cause
	who   Who
	atNs  int64
}

// cpu is the state of a CPU.
type cpu struct {
	current *thread
	waiters map[int32]*thread // threads of the target that wait for it
	atNs    int64             // of the last event
}
