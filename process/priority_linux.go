package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// priority is the niceness of the thread that starts programs; programs inherit it.
type priority struct {
	found       bool
	usual, nice int // niceness: at first, and now
}

// ask gives the calling thread the niceness of a command; 0 stands for the niceness that the thread had at
// first.
func (p *priority) ask(c Command) error {
	if c.Nice == 0 && !p.found {
		return nil
	}
	if !p.found {
		raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			return &PriorityError{Nice: c.Nice, Err: fmt.Errorf("getpriority: %w", err)}
		}
		p.found, p.usual, p.nice = true, 20-raw, 20-raw // the system call returns 20 less the niceness (getpriority(2))
	}
	wanted := c.Nice
	if wanted == 0 {
		wanted = p.usual
	}
	if wanted == p.nice {
		return nil
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, wanted); err != nil {
		return &PriorityError{Nice: wanted, Err: fmt.Errorf("setpriority: %w", err)}
	}
	p.nice = wanted
	return nil
}

// AtNiceness calls a function while the calling thread has the given niceness. The caller has to be locked to its
// thread. Without the right to that niceness the function is not called, and the error says so.
func AtNiceness(nice int, do func()) error {
	var p priority
	if err := p.ask(Command{Nice: nice}); err != nil {
		return err
	}
	do()
	return p.ask(Command{})
}
