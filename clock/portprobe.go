package clock

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
)

// PortProbe tells whether something else uses the core at the same time. It compares the time of
// independent additions, which use all of the core's execution ports, with the time of a chain of
// dependent multiplications. A busy hyperthread on the same core, even one of another virtual
// machine, slows the additions and hardly slows the chain. A lower clock rate slows both.
type PortProbe struct {
	counter                     Rated
	chainRounds, additionRounds int
	readingTicks                int64   // time between two readings with nothing between them
	alone                       float64 // the additions' time divided by the chain's if nothing shares the core
}

const (
	probeNs         = 1.5e3 // approximate time of the additions, and of the chain
	probeTries      = 2     // number of tries; the fastest counts, because interrupts only slow a try down
	probeCalibrated = 64
	// widthSlack is the share by which the additions take longer than [AdditionsPerCycle] says,
	// because of the loop's own instructions and its start: 2.8 % on Zen 4.
	widthSlack = 0.04
)

// NewPortProbe prepares a probe in less than a millisecond. If [AdditionsPerCycle] does not know
// the core, the fastest additions during the preparation count as those of a core that is not
// shared. A sibling that is always busy is then not noticed.
func NewPortProbe(counter Rated) (*PortProbe, error) {
	if AdditionsInRound == 0 {
		return nil, errors.New("no independent additions on " + runtime.GOARCH)
	}
	p := &PortProbe{counter: counter, chainRounds: 1000, additionRounds: 100, alone: 1}
	p.readingTicks = p.ticks(func(int) {}, 0, probeCalibrated)
	chain, additions := p.ticks(Spin, p.chainRounds, probeCalibrated), p.ticks(Additions, p.additionRounds, probeCalibrated)
	if chain <= 0 || additions <= 0 {
		return nil, fmt.Errorf("%s does not move within a microsecond: it is too coarse", counter.Name)
	}
	p.chainRounds = max(1, int(float64(p.chainRounds)*probeNs/counter.Ns(chain)))
	p.additionRounds = max(1, int(float64(p.additionRounds)*probeNs/counter.Ns(additions)))
	var ratios []float64
	for range probeCalibrated {
		ratios = append(ratios, p.ratio())
	}
	slices.Sort(ratios)
	p.alone = ratios[len(ratios)/10]
	if width := AdditionsPerCycle(); !math.IsNaN(width) {
		known := float64(p.additionRounds*AdditionsInRound) / width / float64(p.chainRounds*coreOperationCycles)
		p.alone = min(p.alone, (1+widthSlack)*known)
	}
	return p, nil
}

// Slowed returns the share by which the additions now take longer than on a core that nothing
// shares: 0.3 for 30 %. It takes a few microseconds and allocates nothing.
func (p *PortProbe) Slowed() float64 { return p.ratio()/p.alone - 1 }

// ratio returns the time of the additions divided by that of the chain.
func (p *PortProbe) ratio() float64 {
	chain := p.ticks(Spin, p.chainRounds, probeTries)
	return float64(p.ticks(Additions, p.additionRounds, probeTries)) / float64(max(1, chain))
}

// ticks returns the fewest ticks that run took in the given number of tries, without the cost of
// the readings.
func (p *PortProbe) ticks(run func(int), rounds, tries int) int64 {
	least := int64(math.MaxInt64)
	for range tries {
		start := p.counter.Start()
		run(rounds)
		least = min(least, p.counter.End()-start)
	}
	return least - p.readingTicks
}
