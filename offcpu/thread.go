package offcpu

import "chronoscope/tracepoint"

// state is what a thread does, as far as the events tell.
type state uint8

const (
	unknown state = iota
	running
	waiting // for a CPU
	blocked
	ended
)

// thread is what is known of one, of the own ones and of all others.
type thread struct {
	process, id int32
	name        string
	cgroup      string
	kernel      bool
	ours        bool
	forked      bool // and not started yet
	state       state
	sinceNs     int64
	cpu         int32 // that it has, or had last; -1 where that is not known
	blockedIn   tracepoint.State
	early       *wake // that came while it ran
	wokenNs     int64 // when it was woken last
	woken       wake
	// had are who had the CPU since it waits for it, one after another, and chargedNs up to when that is
	// known.
	had       []turn
	chargedNs int64
}

// turn is the time for which somebody had a CPU.
type turn struct {
	who Who
	ns  int64
}

// wake is who or what woke a thread.
type wake struct {
	cause Cause
	who   Who
	atNs  int64
}

// cpu is what a CPU does.
type cpu struct {
	current *thread
	waiters map[int32]*thread // own threads that wait for it
	atNs    int64             // of the last event
}
