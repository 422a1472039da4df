package probe

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Probe is a running probe.
type Probe struct {
	Hello
	// Timers are the timers that the probe offers in its hello.
	Timers []*Timer
	// Silent maps the timers of the hello that could not be read to the reasons.
	Silent map[string]error

	session *session
	release func() // releases what it was started from
}

// Timer is one timer of a probe. Its readings are whole ticks of TickNs each, counted from about its
// first reading.
//
// Its methods return an [*Error], an error that says that the probe does not implement the question, or
// ctx's error. After ctx's error the probe has ended, because a late answer would be mistaken for the
// answer to the next question.
type Timer struct {
	Description
	// TickNs is the length of a tick in ns: the unit of the readings or, if they have fractions of it,
	// that unit divided by a power of ten, down to a thousandth of a nanosecond.
	TickNs float64

	probe *Probe
	scale scale
}

// Start starts a program as a probe. args are its path, or its name to be found in PATH, and its
// arguments. The probe ends with [Probe.Close], or when ctx ends during a question.
func Start(ctx context.Context, args []string, limits Limits) (*Probe, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("a probe needs a program to run: name one")
	}
	s, err := start(args, limits)
	if err != nil {
		return nil, err
	}
	p := &Probe{session: s, release: func() {}, Silent: map[string]error{}}
	if err := p.introduce(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// mostHello is the largest length of an answer to hello.
const mostHello = 1 << 16

// introduce asks for the probe's description, and reads each of its timers.
func (p *Probe) introduce(ctx context.Context) error {
	answer, err := p.session.ask(ctx, "hello", mostHello, p.session.limits.Hello)
	if err != nil {
		return err
	}
	if p.Hello, err = parseHello(answer); err != nil {
		return p.session.wrong("hello", answer, err)
	}
	for _, d := range p.Hello.Timers {
		t := &Timer{Description: d, probe: p}
		if err := t.look(ctx); err != nil {
			p.Silent[d.Name] = err
			continue
		}
		p.Timers = append(p.Timers, t)
	}
	return ctx.Err()
}

// The first look at a timer reads it firstReadings times in a row, until readings differ or firstLook has
// passed. Only readings that differ show whether they have fractions.
const (
	firstReadings = 64
	firstLook     = 50 * time.Millisecond
)

// look determines the timer's scale from its first readings.
func (t *Timer) look(ctx context.Context) error {
	limit := t.probe.session.limits.Answer
	readings, err := t.values(ctx, limit, firstReadings, 1, "reads %s %d", t.Name, firstReadings)
	for started, work := time.Now(), 1; err == nil && !differ(readings) && time.Since(started) < firstLook; work *= 4 {
		var more []value
		more, err = t.values(ctx, limit, firstReadings/2, 2, "pairs %s %d %d", t.Name, work, firstReadings/2)
		readings = append(readings, more...)
	}
	if err != nil {
		return err
	}
	t.scale = newScale(readings, t.UnitNs)
	t.TickNs = t.scale.tickNs(t.UnitNs)
	return nil
}

// timer returns the timer with the given name.
func (p *Probe) timer(name string) (*Timer, error) {
	for _, t := range p.Timers {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("the probe %q has no timer %s that can be read", p.session.name, name)
}

func differ(readings []value) bool {
	return slices.ContainsFunc(readings, func(v value) bool { return v != readings[0] })
}

// Close ends the probe and every process that it has started.
func (p *Probe) Close() {
	p.session.quit()
	p.release()
}

// Reads returns n consecutive readings.
func (t *Timer) Reads(ctx context.Context, n int) ([]int64, error) {
	return t.ask(ctx, n, []inTicks{t.scale.reading}, "reads %s %d", t.Name, n)
}

// Pairs returns 2n readings: n times one before and one after work rounds of a busy loop.
func (t *Timer) Pairs(ctx context.Context, work, n int) ([]int64, error) {
	return t.ask(ctx, n, []inTicks{t.scale.reading, t.scale.reading}, "pairs %s %d %d", t.Name, work, n)
}

// Durations measures n times how long batch calls of the timer take, in ticks of the reference,
// which is a timer of the same probe.
func (t *Timer) Durations(ctx context.Context, reference string, batch, n int) ([]int64, error) {
	by, err := t.probe.timer(reference)
	if err != nil {
		return nil, err
	}
	return t.ask(ctx, n, []inTicks{by.scale.duration}, "cost %s %s %d %d", t.Name, by.Name, batch, n)
}

// Frames measures n times, with the timer itself, how long a loop of batch rounds without calls takes;
// batch 0 means two consecutive readings.
func (t *Timer) Frames(ctx context.Context, batch, n int) ([]int64, error) {
	return t.ask(ctx, n, []inTicks{t.scale.duration}, "cost %s %s %d %d", nobody, t.Name, batch, n)
}

// HandOver lets threads of the probe read the timer in turn, n times in all. The result has
// two numbers for each reading, in the order in which they were taken: the number of the thread,
// and the reading.
func (t *Timer) HandOver(ctx context.Context, threads, n int) ([]int64, error) {
	number := func(v value) (int64, error) { return thread(v, threads) }
	return t.ask(ctx, n, []inTicks{number, t.scale.reading}, "threads %s %d %d", t.Name, threads, n)
}

// Sandwiches measures a workload n times, each time by the reference and by the timer, and returns both
// durations in their ticks. The workload is "sleep" for amount milliseconds, or "compute" for amount
// rounds.
func (t *Timer) Sandwiches(ctx context.Context, reference, workload string, amount, n int) ([]int64, error) {
	by, err := t.probe.timer(reference)
	if err != nil {
		return nil, err
	}
	limit := t.probe.session.limits.Answer
	if workload == sleepWorkload {
		limit += time.Duration(n) * time.Duration(amount) * time.Millisecond
	}
	return t.askWithin(ctx, limit, n, []inTicks{by.scale.duration, t.scale.duration},
		"sandwich %s %s %s %d %d", by.Name, t.Name, workload, amount, n)
}

// sleepWorkload is the workload that sleeps.
const sleepWorkload = "sleep"

// inTicks converts a value to ticks.
type inTicks func(value) (int64, error)

// ask sends a question whose answer has n words. Each word has as many values as there are functions in
// each, which convert these values to ticks.
func (t *Timer) ask(ctx context.Context, n int, each []inTicks, format string, args ...any) ([]int64, error) {
	return t.askWithin(ctx, t.probe.session.limits.Answer, n, each, format, args...)
}

// askWithin is ask with another limit on the time of the answer.
func (t *Timer) askWithin(ctx context.Context, limit time.Duration, n int, each []inTicks, format string, args ...any) ([]int64, error) {
	values, err := t.values(ctx, limit, n, len(each), format, args...)
	if err != nil {
		return nil, err
	}
	ticks := make([]int64, len(values))
	for i, v := range values {
		if ticks[i], err = each[i%len(each)](v); err != nil {
			return nil, t.probe.session.wrong(fmt.Sprintf(format, args...), "", err)
		}
	}
	return ticks, nil
}

// values sends a question whose answer has n words, and returns the values.
func (t *Timer) values(ctx context.Context, limit time.Duration, n, perWord int, format string, args ...any) ([]value, error) {
	if n < 1 || n > mostValues {
		return nil, fmt.Errorf("%d values of %s were to be asked for: from 1 to %d can be", n, t.Name, mostValues)
	}
	session, command := t.probe.session, fmt.Sprintf(format, args...)
	answer, err := session.ask(ctx, command, n*perWord*(longestValue+1), limit)
	if err != nil {
		return nil, err
	}
	values, err := parseAnswer(answer, n, perWord)
	if err != nil {
		return nil, session.wrong(command, answer, err)
	}
	return values, nil
}
