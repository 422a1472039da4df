package bytecode

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// world is a simulated machine with known times.
type world struct {
	random *rand.Rand
	now    float64 // ns
	count  float64 // of the counting thread
	// countNs is the counter's period. slowShare is the share of the time in which the counting thread
	// has no CPU or runs at half its speed, for some milliseconds each time.
	countNs, slowShare float64
	pace               float64 // of the counter, 0 to 1
	paceUntil          float64
	// An interrupt takes interruptNs of the measuring thread's time, once in everyNs on average.
	interruptNs, everyNs, interruptAt float64
}

func newWorld(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 3))
	return &world{random: r, now: 1e15 + 1e9*r.Float64(), countNs: 3 + 8*r.Float64(), pace: 1, interruptNs: 4000, everyNs: 1e6, interruptAt: math.Inf(1)}
}

// pass lets the given running time of the measuring thread go by.
func (w *world) pass(ns float64) {
	if math.IsInf(w.interruptAt, 1) {
		w.interruptAt = w.now + w.random.ExpFloat64()*w.everyNs
	}
	end := w.now + ns
	for w.interruptAt < end {
		end += w.interruptNs
		w.interruptAt += w.random.ExpFloat64() * w.everyNs
	}
	for w.now < end {
		if w.now >= w.paceUntil {
			w.pace = 1
			if w.random.Float64() < w.slowShare {
				w.pace = []float64{0, 0.45}[w.random.IntN(2)]
			}
			w.paceUntil = w.now + 1e6*(1+4*w.random.Float64())
		}
		step := min(end, w.paceUntil) - w.now
		w.count += step / w.countNs * w.pace
		w.now += step
	}
}

const simulatedHz = 2.6e9

func (w *world) readings() Sums {
	return Sums{Millis: int64(w.now / 1e6), Counts: int64(w.count), Cycles: int64(w.now * simulatedHz / 1e9), Nano: int64(w.now)}
}

// blocks returns blocks of trials of an event of the given length, with gaps between the trials.
func (w *world) blocks(n, trials int, eventNs, overheadNs, gapNs float64) []block {
	var blocks []block
	for range n {
		b := block{Sums: Sums{Trials: int64(trials)}}
		for range trials {
			w.pass(gapNs * (0.9 + 0.2*w.random.Float64()))
			before := w.readings()
			w.pass(eventNs + overheadNs)
			b.last = w.readings()
			d := b.last.minus(before)
			b.Sums = b.Sums.plus(d)
			if d.Millis > 0 {
				b.Ones++
			}
		}
		blocks = append(blocks, b)
	}
	return blocks
}

var simulatedMethods = []Method{Counter, Discrete, Bernoulli, TSC}

// series returns the series of a run in this world: starts of groups, each with the sentinels, the empty
// sequence and iadd. The time of one iadd is ns, and differs by about half a percent between virtual
// machines.
func (w *world) series(t *testing.T, starts, groups, blocks int, ns float64) *Series {
	t.Helper()
	s := &Series{Mode: Interpreter, Length: 1000, TickNs: 1e6, TSCHz: simulatedHz, Instructions: []string{"iadd"}}
	for range starts {
		start := Start{Methods: simulatedMethods}
		layout := 1 + 0.005*w.random.NormFloat64()
		for g := range groups {
			for _, q := range []struct {
				name    string
				blocks  int
				eventNs float64
			}{{fastSentinel, min(blocks, 100), 750}, {slowSentinel, min(blocks, 100), 2750}, {emptyName, blocks, 0}, {"iadd", blocks, 1000 * ns * layout}} {
				x, err := newStretch(q.name, g, w.blocks(q.blocks, 20, q.eventNs, 300, 900), simulatedMethods)
				if err != nil {
					t.Fatal(err)
				}
				start.Stretches = append(start.Stretches, x)
			}
		}
		s.Starts = append(s.Starts, start)
	}
	return s
}

// covered counts how often a method's interval holds the truth, and returns the mean error of its values.
func covered(t *testing.T, runs int, m Method, prepare func(*world)) (hits int, strays float64) {
	t.Helper()
	for seed := range runs {
		w := newWorld(uint64(seed))
		if prepare != nil {
			prepare(w)
		}
		ns := 0.5 + 3*w.random.Float64()
		r := w.series(t, 4, 2, 300, ns).Result()
		timing, _ := r.Timing("iadd", Homogeneous)
		found, ok := timing.By(m)
		if !ok {
			continue
		}
		// The time of interrupts is part of all figures except the reference's.
		truth := ns
		if m != TSC {
			truth *= 1 + w.interruptNs/w.everyNs
		}
		if found.Time.Covers(truth) {
			hits++
		}
		strays += math.Abs(found.Time.Value/truth-1) / float64(runs)
	}
	return hits, strays
}

// The intervals of a correct method hold the truth 95 times in 100 on average, and nearly always at
// least 91 times.
func TestIntervals(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, c := range []struct {
		name    string
		m       Method
		prepare func(*world)
		strays  float64
	}{
		{"reference", TSC, nil, 0.003},
		{"counter", Counter, nil, 0.01},
		{"counter that loses its CPU", Counter, func(w *world) { w.slowShare = 0.2 }, 0.02},
		{"ticks", Discrete, nil, 0.2},
		{"trials", Bernoulli, nil, 0.2},
	} {
		if hits, strays := covered(t, 100, c.m, c.prepare); hits < 91 || strays > c.strays {
			t.Errorf("%s: %d of 100 intervals hold the truth, which is missed by %.4f in the mean", c.name, hits, strays)
		}
	}
}

// Bernoulli counts one tick for a trial that is preempted, Discrete counts all of its ticks. So Bernoulli
// falls short of the reference by about a quarter, and Discrete does not.
func TestOutcomesUnderLoad(t *testing.T) {
	w := newWorld(5)
	w.interruptNs, w.everyNs = 4e6, 8e6
	s := w.series(t, 8, 2, 300, 2)
	s.Load = 1
	r := s.Result()
	timing, _ := r.Timing("iadd", Homogeneous)
	ticks, _ := timing.By(Discrete)
	ones, _ := timing.By(Bernoulli)
	if ratio := ticks.Time.Value / ticks.Same.Value; math.Abs(ratio-1) > 0.1 {
		t.Errorf("all ticks: %.3f of the reference", ratio)
	}
	if ratio := ones.Time.Value / ones.Same.Value; ratio > 0.9 {
		t.Errorf("ticks or none: %.3f of the reference", ratio)
	}
}

// The times of the balancing instructions are subtracted, with their uncertainty.
func TestBalanceIsTakenOff(t *testing.T) {
	s := &Series{Mode: Interpreter, Length: 100, TSCHz: 1e9, Instructions: []string{"i2l", "iload_0"}, Pairs: true}
	add := func(start int, name string, cycles int64) {
		sums := Sums{Trials: 10, Cycles: 10 * cycles}
		s.Starts[start].Stretches = append(s.Starts[start].Stretches, Stretch{Sequence: name, All: sums, Kept: map[Method]Sums{TSC: sums}})
	}
	for i, jitter := range []int64{-10, 0, 10} {
		s.Starts = append(s.Starts, Start{Methods: []Method{TSC}})
		add(i, emptyName, 50)
		add(i, "i2l", 350+jitter)
		add(i, "pop2", 150)
		add(i, "pop", 140+jitter)
		add(i, "iload_0/pair", 300)
	}
	r := s.Result()
	for _, c := range []struct {
		mnemonic  string
		form      Form
		want, off float64
	}{
		// 0.2484 is Student's t for 2 degrees of freedom, 4.303, times the standard error of -0.1, 0,
		// 0.1, which is 0.1/sqrt(3).
		{"i2l", Homogeneous, 3 - 1, 0.2484},
		{"iload_0", Pair, 2.5 - 0.9, 0.2484},
	} {
		timing, _ := r.Timing(c.mnemonic, c.form)
		found, _ := timing.By(TSC)
		if math.Abs(found.Time.Value-c.want) > 1e-9 || math.Abs(found.Time.HalfWidth()-c.off) > 1e-3 {
			t.Errorf("%s, %s: %+v, want %v ± %v", c.mnemonic, c.form, found.Time, c.want, c.off)
		}
	}
	if over := r.Overhead[TSC]; over.Value != 50 {
		t.Errorf("overhead %+v", over)
	}
}

// Groups with a slow sentinel are left out, and so is the group before, at whose end the machine was
// slow.
func TestSlowGroups(t *testing.T) {
	w := newWorld(11)
	s := w.series(t, 2, 8, 100, 1)
	for j := range s.Starts[1].Stretches {
		x := &s.Starts[1].Stretches[j]
		kept := x.Kept[Counter]
		if x.Sequence == fastSentinel && x.Group == 5 {
			kept.Counts = kept.Counts * 14 / 10
			x.Kept[Counter] = kept
		}
	}
	s.correctRates()
	slow := s.slowGroups()
	if len(slow[0]) != 0 || !slow[1][5] || !slow[1][4] || len(slow[1]) != 2 {
		t.Errorf("slow are %v", slow)
	}
	if r := s.Result(); r.Slow != 8 {
		t.Errorf("%d stretches were left out, want 8", r.Slow)
	}
	s.Load = 1
	if slow := s.slowGroups(); len(slow[1]) != 0 {
		t.Errorf("beside competitors, %v are slow", slow)
	}
}

// A clock that goes backwards makes its stretch an error, and no other.
func TestBackward(t *testing.T) {
	w := newWorld(12)
	for name, harm := range map[string]func([]block){
		"within a trial":  func(b []block) { b[3].Counts = -5 },
		"between trials":  func(b []block) { b[5].last.Cycles = b[4].last.Cycles - 1 },
		"millis set back": func(b []block) { b[7].last.Millis -= 100 },
	} {
		blocks := w.blocks(10, 5, 1000, 300, 900)
		if _, err := newStretch("x", 0, blocks, simulatedMethods); err != nil {
			t.Fatalf("%s: before: %v", name, err)
		}
		harm(blocks)
		if _, err := newStretch("x", 0, blocks, simulatedMethods); err == nil {
			t.Errorf("%s: nothing is wrong", name)
		}
	}
	if _, err := newStretch("x", 0, w.blocks(1, 5, 1000, 300, 900), simulatedMethods); err == nil {
		t.Error("the first block alone is a stretch")
	}
}

// The columns of a row are in the order in which the generated classes fill them.
func TestReadBlocks(t *testing.T) {
	got, err := readBlocks([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, []Method{TSC, Counter, Nano, Bernoulli}, 10)
	want := block{Sums: Sums{Trials: 10, Millis: 1, Ones: 3, Nano: 4, Counts: 6, Cycles: 8}, last: Sums{Millis: 2, Nano: 5, Counts: 7, Cycles: 9}}
	if err != nil || !slices.Equal(got, []block{want}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := readBlocks([]int64{1, 2, 3}, []Method{TSC}, 1); err == nil {
		t.Error("three numbers are rows of two")
	}
}

// The interval is about as wide as that of equation (2) of Lambert 2008 for independent ticks, if the
// stretches scatter no more than by chance.
func TestTicksATrial(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	hits, widths := 0, 0.0
	for range 1000 {
		p := 0.05 + 0.5*random.Float64()
		var all []counted
		for range 20 {
			c := counted{passed: 40, trials: 4000}
			for range 40 {
				if random.Float64() < p {
					c.sum++
				}
			}
			all = append(all, c)
		}
		e := ticksATrial(all)
		if e.Covers(p * 40 / 4000) {
			hits++
		}
		widths += e.HalfWidth() / (1.96 * math.Sqrt(p*(1-p)/800) / 100) / 1000
	}
	if hits < 930 || hits > 985 || widths < 0.9 || widths > 1.2 {
		t.Errorf("%d of 1000 intervals hold the truth, and are %.2f times as wide as equation (2) has them", hits, widths)
	}
	if e := ticksATrial(nil); known(e) {
		t.Errorf("no stretches: %+v", e)
	}
}

func TestPoints(t *testing.T) {
	w := newWorld(2)
	s := w.series(t, 3, 2, 100, 1)
	alone := w.series(t, 3, 2, 100, 1)
	for i := range alone.Starts {
		alone.Starts[i].Alone, alone.Starts[i].Methods = true, []Method{TSC}
	}
	s.Starts = append(s.Starts, alone.Starts...)
	r := s.Result()
	paired, unpaired := r.Points(Counter, Paired), r.Points(Counter, Unpaired)
	if len(paired) != 1 || len(unpaired) != 1 || paired[0].Time != unpaired[0].Time || paired[0].Reference == unpaired[0].Reference {
		t.Errorf("paired %+v\nunpaired %+v", paired, unpaired)
	}
	if points := r.Points(TSC, Unpaired); len(points) != 0 {
		t.Errorf("the reference is compared with itself: %+v", points)
	}
}

// The mean of medians, its interval and its number of samples are those computed by hand.
func TestMeanOfMedians(t *testing.T) {
	e := meanOfMedians([][]float64{{1, 1, 100}, {2}, {3}})
	// The medians are 1, 2, 3, the standard error is 1/sqrt(3), Student's t for 2 is 4.303.
	if e.Value != 2 || math.Abs(e.HalfWidth()-2.484) > 1e-3 || e.N != 5 {
		t.Errorf("%+v", e)
	}
	if e := meanOfMedians([][]float64{{1, 3}}); e.Value != 2 || !(e.HalfWidth() > 12) {
		t.Errorf("one group: %+v", e)
	}
	if e := meanOfMedians([][]float64{{1}}); e.Value != 1 || !math.IsNaN(e.HalfWidth()) {
		t.Errorf("one value: %+v", e)
	}
	if known(meanOfMedians(nil)) {
		t.Error("nothing has a mean")
	}
}

// The overhead is that of an empty sequence in a near group; for the counter, of one during which the
// counter ran at about the same rate.
func TestOverheadBeside(t *testing.T) {
	stretch := func(name string, group int, rate float64, counts int64) Stretch {
		sums := Sums{Trials: 1, Counts: counts, Cycles: counts}
		return Stretch{Sequence: name, Group: group, CountsAMilli: rate, Kept: map[Method]Sums{Counter: sums, TSC: sums}}
	}
	s := &Series{Mode: C1, TSCHz: 1e9, Starts: []Start{{Stretches: []Stretch{
		stretch(emptyName, 0, 1e6, 70), stretch(emptyName, 4, 5e5, 50), stretch(emptyName, 5, 1.05e6, 84), stretch("iadd", 4, 1e6, 900),
		stretch("iadd", 20, 1e6, 900),
	}}}}
	e := newEvaluation(s)
	near, far := &s.Starts[0].Stretches[3], &s.Starts[0].Stretches[4]
	if ns := e.overheadBeside(0, near, e.sourceOf(Counter)); math.Abs(ns-80) > 1e-9 {
		t.Errorf("the counter's overhead is %v, want that of group 5", ns)
	}
	if ns := e.overheadBeside(0, near, e.sourceOf(TSC)); ns != 50 {
		t.Errorf("the reference's overhead is %v, want that of its own group", ns)
	}
	if ns := e.overheadBeside(0, far, e.sourceOf(TSC)); !math.IsNaN(ns) {
		t.Errorf("far from any empty sequence the overhead is %v", ns)
	}
}

// The counts that a reading costs the counter are added again: the counts of a trial are the rate times
// the trial's time, minus a constant.
func TestLostCounts(t *testing.T) {
	const rate, lost = 2e5, 30.0
	start := Start{Methods: []Method{Counter}}
	add := func(name string, group int, trialMs float64) {
		counts := rate*trialMs - lost
		start.Stretches = append(start.Stretches, Stretch{
			Sequence: name, Group: group, CountsAMilli: counts / trialMs, SteadyMillis: 1000 * trialMs,
			Kept: map[Method]Sums{Counter: {Trials: 1000, Counts: 1000}},
		})
	}
	for g := range fewestGroups {
		add(emptyName, g, 0.0006)
		add(slowSentinel, g, 0.005)
		add("iadd", g, 0.0021)
	}
	s := &Series{Starts: []Start{start}}
	s.correctRates()
	for _, x := range s.Starts[0].Stretches {
		if math.Abs(x.rate-rate) > 1e-6*rate {
			t.Errorf("%s: the rate is %v", x.Sequence, x.rate)
		}
	}
	s.Starts[0].Stretches = s.Starts[0].Stretches[:3]
	if s.correctRates(); s.Starts[0].Stretches[0].rate != s.Starts[0].Stretches[0].CountsAMilli {
		t.Error("one group tells what a reading costs")
	}
}

// The counter's rate is found between edges of currentTimeMillis. So currentTimeMillis is read whenever
// the counter is, even if no method needs it.
func TestCounterAloneHasItsMilliseconds(t *testing.T) {
	var answer []int64
	for i := range int64(200) { // blocks of 0.1 ms, 5 counts per trial, 10,000 counts per millisecond
		answer = append(answer, 0, i/10, 0, 50, 1000*i)
	}
	blocks, err := readBlocks(answer, []Method{Counter}, 10)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStretch("iadd", 0, blocks, []Method{Counter})
	if err != nil || math.Abs(s.CountsAMilli-10_000) > 1 || s.SteadyMillis < 15 {
		t.Errorf("%+v, %v", s, err)
	}
}
