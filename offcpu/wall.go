package offcpu

// doing is what the target does as a whole.
type doing uint8

const (
	absent  doing = iota
	runs          // a thread of it has a CPU
	queues        // none has, though one could run
	idles         // all are blocked
	obscure       // events are lost
)

// whole is what the target does as a whole since when.
type whole struct {
	doing   doing
	sinceNs int64
	ended   key   // what the block of a thread that ended last was put down to
	endedNs int64 // when that was
}

// doing is what the target does now.
func (a *Analyser) doing() doing {
	queued := false
	for _, c := range a.ordered {
		if c.current != nil && c.current.ours {
			return runs
		}
		queued = queued || len(c.waiters) > 0
	}
	switch {
	case a.losing > 0:
		return obscure
	case queued:
		return queues
	case a.living > 0:
		return idles
	}
	return absent
}

// watch puts down what the target did as a whole, once it does something else.
func (a *Analyser) watch(atNs int64) {
	if now := a.doing(); now != a.whole.doing {
		a.endWhole(atNs)
		a.whole.doing, a.whole.sinceNs = now, atNs
	}
}

// endWhole puts down what the target did as a whole. Where all threads were blocked, it waited for what
// woke the first; where none had a CPU, it waited for whoever kept the one that got a CPU first, which is
// known when that wait is settled.
func (a *Analyser) endWhole(atNs int64) {
	ns := atNs - a.whole.sinceNs
	k := key{cause: Unknown}
	switch a.whole.doing {
	case absent:
		return
	case runs:
		k.cause = Ran
	case idles:
		if a.whole.endedNs == atNs {
			if k = a.whole.ended; k.cause == NotWoken { // of several threads, each may wait elsewhere
				k.who = Who{}
			}
		}
	case queues:
		if n := len(a.waits); n > 0 && a.waits[n-1].endNs() == atNs {
			a.waits[n-1].wholeNs = ns
			return
		}
	}
	if ns > 0 {
		a.countWall(k, a.whole.sinceNs, ns)
	}
}
