package bytecode

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// worker drives one virtual machine.
type worker struct {
	*running
	vm    *virtualMachine
	start *Start
	next  int // number of the next group
	// warmed holds the sequences that have run before.
	warmed map[string]bool
}

// Limits on how long a Java virtual machine may take to start, and to answer. An answer has answerLimit,
// and patience times the time that is expected for it.
const (
	startLimit  = 30 * time.Second
	answerLimit = 10 * time.Second
	compileTime = 60 * time.Second // added to the limit of an answer if a compiler works in the foreground
	patience    = 20
)

// begin waits until the machine answers, and finds the tick of currentTimeMillis.
func (w *worker) begin(ctx context.Context) error {
	const edges = 4
	answer, err := w.vm.run(ctx, edgesName, edges, 1, startLimit)
	if err != nil {
		return err
	}
	tick := math.Inf(1)
	for _, step := range answer {
		if step > 0 {
			tick = math.Min(tick, float64(step)*millisecondNs)
		}
	}
	if !math.IsInf(tick, 1) && (w.series.TickNs == 0 || tick < w.series.TickNs) {
		w.series.TickNs = tick
	}
	return nil
}

// group times the sentinels, the empty sequence and the next sequences.
func (w *worker) group(ctx context.Context, todo *passes, tell func(float64, string)) error {
	stretch := todo.inTime(time.Until(todo.end))
	if err := w.sentinels(ctx, stretch); err != nil {
		return err
	}
	group := w.next - 1
	if err := w.stretch(ctx, w.named(emptyName), group, emptyStretches*stretch); err != nil {
		return err
	}
	for n := 0; n < todo.group && todo.next < len(todo.order); n++ {
		s := todo.order[todo.next]
		todo.next++
		if s == nil || w.gaveUp(s.name) {
			continue
		}
		tell(float64(todo.next-1)/float64(len(todo.order)), s.name)
		if err := w.stretch(ctx, s, group, stretch); err != nil {
			return err
		}
	}
	return nil
}

// sentinels begins a group with the sequences that show how fast the machine is now.
func (w *worker) sentinels(ctx context.Context, d time.Duration) error {
	w.next++
	for _, name := range []string{fastSentinel, slowSentinel} {
		if err := w.stretch(ctx, w.named(name), w.next-1, d); err != nil {
			return err
		}
	}
	return nil
}

// named returns the sequence with the given name, which every run has.
func (w *worker) named(name string) *sequence {
	return w.all[slices.IndexFunc(w.all, func(s *sequence) bool { return s.name == name })]
}

// stretch times a sequence for about the duration d.
func (w *worker) stretch(ctx context.Context, s *sequence, group int, d time.Duration) error {
	if !w.warmed[s.name] {
		if err := w.warm(ctx, s); err != nil {
			return err
		}
		w.warmed[s.name] = true
	}
	cost := w.costNs[s.name]
	trials := max(1, int(float64(blockTime)/cost))
	blocks := max(3, int(float64(d)/(cost*float64(trials)))) + 1
	blocks = min(blocks, (mostLongs-headerLongs)/rowWidth(timersOf(w.start.Methods)))
	result, elapsed, err := w.trials(ctx, s, blocks, trials)
	if err != nil {
		return err
	}
	stretch, err := newStretch(s.name, group, result, w.start.Methods)
	if err != nil {
		return nil // the clock was set; there will be other stretches
	}
	stretch.ElapsedNs = float64(elapsed)
	w.costNs[s.name] = math.Max(leastCostNs, float64(elapsed)/float64(blocks*trials))
	w.start.Stretches = append(w.start.Stretches, stretch)
	return nil
}

// warm makes the machine load, link and, in compiled modes, compile the class. It also measures how long
// a trial takes.
func (w *worker) warm(ctx context.Context, s *sequence) error {
	if w.Mode != Interpreter {
		for range compiledRounds {
			if _, _, err := w.trials(ctx, s, warmBlocks, 1); err != nil {
				return err
			}
		}
	}
	_, elapsed, err := w.trials(ctx, s, warmBlocks, warmTrials)
	if err == nil && (w.costNs[s.name] == 0 || w.Mode != Interpreter) {
		w.costNs[s.name] = math.Max(leastCostNs, float64(elapsed)/(warmBlocks*warmTrials))
	}
	return err
}

// leastCostNs is the least expected time of a trial, millisecondNs the length of a millisecond.
const leastCostNs, millisecondNs = 50, 1e6

// The warm-up is one call of warmBlocks blocks of warmTrials trials. In compiled modes it is preceded by
// compiledRounds calls, which exceed the compiler's thresholds.
const (
	warmBlocks, warmTrials = 2, 64
	compiledRounds         = 100
)

// trials runs a sequence in blocks of trials, and returns the blocks and the time that they took.
func (w *worker) trials(ctx context.Context, s *sequence, blocks, trials int) ([]block, time.Duration, error) {
	expected := time.Duration(w.costNs[s.name] * float64(blocks*trials))
	limit := answerLimit + patience*expected
	if w.Mode != Interpreter {
		limit += compileTime
	}
	begun := time.Now()
	answer, err := w.vm.run(ctx, className(s.name), blocks*rowWidth(timersOf(w.start.Methods)), trials, limit)
	if err != nil {
		return nil, 0, err
	}
	elapsed := time.Since(begun)
	result, err := readBlocks(answer, w.start.Methods, trials)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", s.name, err)
	}
	return result, elapsed, nil
}
