package bytecode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"chronoscope/internal/load"
)

// competitorNice is the niceness of competitors. A virtual machine has a session of its own, with the usual share of a CPU.
const competitorNice = 5

// allStarts executes the plan, except for the starts that an earlier run has completed.
func (r *running) allStarts(ctx context.Context) error {
	defer func() { r.series.ElapsedNs = float64(r.before + time.Since(r.begun)) }()
	if r.Load > 0 {
		competitors, err := load.StartNice(ctx, r.Load, load.Registers, competitorNice, r.CPUs)
		if err != nil {
			return err
		}
		defer competitors.Stop()
	}
	if err := r.tryReference(ctx); err != nil {
		return err
	}
	plan := r.plan()
	done := map[bool]int{}
	for _, s := range r.series.Starts {
		if s.Complete {
			done[s.Alone]++
		}
	}
	plan = slices.DeleteFunc(plan, func(p plannedStart) bool { done[p.alone]--; return done[p.alone] >= 0 })
	falseRuns, end := 0, time.Now()
	for _, p := range plan {
		end = end.Add(p.duration)
	}
	for i, p := range plan {
		p.duration = shortened(plan[i:], time.Until(end))
		before := len(r.series.Starts)
		err := r.start(ctx, p, func(share float64, doing string) { r.tell(plan, i, share, doing) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && len(r.series.Starts) == before {
			if falseRuns++; falseRuns >= mostFalseRuns || before == 0 {
				return err
			}
		}
	}
	return nil
}

func (r *running) tell(plan []plannedStart, i int, share float64, doing string) {
	var all, done time.Duration
	for j, p := range plan {
		all += p.duration
		if j < i {
			done += p.duration
		}
	}
	done += time.Duration(share * float64(plan[i].duration))
	r.Progress(Progress{Done: float64(done) / float64(all), Left: all - done, Doing: doing})
}

// classes writes the classes for the timers of the methods, if they do not exist yet, and returns their
// folder.
func (r *running) classes(methods []Method) (string, error) {
	name := "for"
	for _, m := range methods {
		name += "-" + string(m)
	}
	folder := filepath.Join(r.folder, name)
	if _, err := os.Stat(filepath.Join(folder, "chronoscope")); err == nil {
		return folder, nil
	}
	return folder, writeClasses(folder, r.all, timersOf(methods))
}

// start measures on one virtual machine, and on another one if the first is lost. It returns an error if
// no machine could be used.
func (r *running) start(ctx context.Context, p plannedStart, tell func(float64, string)) error {
	folder, err := r.classes(p.methods)
	if err != nil {
		return err
	}
	todo := r.passes(p.duration)
	for idle := 0; len(todo.order) > todo.next; {
		before := todo.next
		s, err := r.onMachine(ctx, p, folder, &todo, tell)
		if len(s.Stretches) > 0 {
			r.series.Starts = append(r.series.Starts, s)
		}
		var lost *lostMachine
		if err == nil || !errors.As(err, &lost) {
			return err
		}
		r.mark(lost)
		if todo.next == before {
			idle++
		}
		if idle >= mostLosses {
			return err
		}
	}
	return nil
}

// mark records the loss of a virtual machine.
func (r *running) mark(l *lostMachine) {
	name := l.class
	for _, s := range r.all {
		if className(s.name) == l.class {
			name = s.name
		}
	}
	r.lost[name]++
	r.series.Failures = append(r.series.Failures, Failure{Sequence: name, Problem: l.problem, Dropped: r.gaveUp(name)})
}

// gaveUp reports whether a sequence has lost too many machines to be tried again.
func (r *running) gaveUp(name string) bool { return r.lost[name] >= mostLosses }

// onMachine continues the passes on a new virtual machine, group by group.
func (r *running) onMachine(ctx context.Context, p plannedStart, folder string, todo *passes, tell func(float64, string)) (s Start, err error) {
	s = Start{Methods: p.methods, Alone: p.alone}
	counting := slices.Contains(p.methods, Counter)
	vm, err := startMachine(r.Java, arguments(r.Java, r.Mode, folder, r.libraryFor(p), counting), r.CPUs)
	if err != nil {
		return s, err
	}
	defer func() {
		vm.stop()
		if r.Mode != Interpreter {
			s.Interpreted = vm.said.notCompiled(s.Stretches)
		}
	}()
	w := &worker{running: r, vm: vm, start: &s, warmed: map[string]bool{}}
	if err := w.begin(ctx); err != nil {
		return s, err
	}
	if counting {
		placeThreads(vm.command.Process.Pid, r.CPUs)
	}
	for todo.next < len(todo.order) {
		if err := w.group(ctx, todo, tell); err != nil {
			return s, err
		}
	}
	if err := w.sentinels(ctx, todo.inTime(time.Until(todo.end))); err != nil {
		return s, err
	}
	s.Complete = true
	return s, nil
}

func (r *running) libraryFor(p plannedStart) string {
	if slices.Contains(p.methods, TSC) {
		return r.library
	}
	return ""
}

// tryReference makes a virtual machine load the library that reads the time stamp counter, and another one if that is
// lost. If it fails, for example because programs may not be executed from the folder for temporary files, the run
// continues without the reference.
func (r *running) tryReference(ctx context.Context) error {
	if r.library == "" {
		return nil
	}
	methods := []Method{TSC}
	folder, err := r.classes(methods)
	if err != nil {
		return err
	}
	var lost *lostMachine
	for tries := 1; ; tries++ {
		err = r.loadLibrary(ctx, folder, methods)
		if tries == mostLosses || !errors.As(err, &lost) {
			break
		}
	}
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if len(r.joint) == 0 {
		remedy := "see whether this Java runs other programs"
		if r.Mode == Interpreter {
			remedy += fmt.Sprintf(", or time by %s, which needs no library", Nano)
		}
		return fmt.Errorf("%w: %s", err, remedy)
	}
	r.library = ""
	r.series.Unused[TSC] = err.Error()
	return nil
}

// loadLibrary starts a virtual machine with the library, and reads the time stamp counter once.
func (r *running) loadLibrary(ctx context.Context, folder string, methods []Method) error {
	vm, err := startMachine(r.Java, arguments(r.Java, r.Mode, folder, r.library, false), r.CPUs)
	if err != nil {
		return err
	}
	defer vm.stop()
	_, err = vm.run(ctx, className(emptyName), rowWidth(timersOf(methods)), 1, startLimit)
	return err
}
