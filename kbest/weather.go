package kbest

import (
	"math"
	"math/rand/v2"
	"slices"

	"chronoscope/stats"
)

// weather is what short looks before and between the samples say of the machine: a
// profile may be of another day, one look may see a burst, and kernels differ in what
// they charge a thread with.
type weather struct {
	// ranNs was watched, of which lostNs were lost to interruptions; 0 where nothing
	// was watched.
	ranNs, lostNs float64
	// gaps is the number of interruptions, worstNs the longest. Windows in number of stolen,
	// which are not in these, lost stolenNs together to what CPU time holds.
	gaps, worstNs, stolen, stolenNs float64
	// looks are both of each look, awayNs what CPU time lacks of all of them, of
	// windows in number.
	looks   [][2]float64
	awayNs  float64
	windows int
	// shared says that others had the CPU meanwhile. Stretches in which they took it
	// are left out, and with them the tick that gave it to them: then too little is
	// seen lost.
	shared bool
	// held is how likely it is that CPU time holds the interrupts that fell into it:
	// where the kernel accounts for them by themselves (CONFIG_IRQ_TIME_ACCOUNTING)
	// nothing is left to take off a sample that was corrected by its CPU time.
	held float64
}

// Sizes of the looks.
const (
	weatherNs = 20e6
	// weatherShare is how much of the samples' time is looked at in all, but for the first
	// look.
	weatherShare = 0.04
	// shortWeatherShare is the same for samples that few interruptions hit, so that these say
	// little themselves of what interruptions take.
	shortWeatherShare = 1
	weatherWindow     = 48  // chains between two looks
	mostWindows       = 256 // whatever becomes of them
	// weatherFromNs is the sample from which on interruptions hit most.
	weatherFromNs = escapeNs
)

// unknownHeld is the weather of a station that can't be watched.
var unknownHeld = weather{held: 0.5}

// watchWeather runs short chains for a while: what one takes beyond the typical
// was taken from it. It adds to what earlier looks saw.
func (s *Station) watchWeather(o overhead, w *weather) {
	if s.Spin == nil || s.Use == nil {
		return
	}
	var ranNs, lostNs float64
	chains, kept := make([]float64, weatherWindow), make([]float64, 0, weatherWindow)
	for try := 0; try < mostWindows && ranNs < weatherNs; try++ {
		before := s.look()
		first := s.Clock.Start()
		last := first
		for i := range chains {
			s.Spin()
			now := s.Clock.End()
			chains[i] = s.Clock.Ns(now - last)
			last = now
		}
		after := s.look()
		use := after.Since(before)
		if use.WaitNs > 0 || use.InvoluntarySwitches+use.VoluntarySwitches > 0 || after.CPU != before.CPU {
			w.shared = true
			continue
		}
		kept = append(kept[:0], chains...)
		slices.Sort(kept)
		typical := stats.Quantile(kept, 0.25)
		var lost, gaps float64
		for _, ns := range chains {
			if ns-typical > math.Max(200, 0.02*typical) {
				lost += ns - typical
				gaps++
			}
		}
		wall := s.Clock.Ns(last - first)
		away := wall - (float64(use.CPUNs) - o.lookNs)
		worst := kept[len(kept)-1] - typical
		if worst > mostMissed { // stolen, most likely
			if away < lost/2 {
				w.stolen++
				w.stolenNs += lost
			}
			continue
		}
		w.awayNs += away
		w.gaps, w.worstNs = w.gaps+gaps, math.Max(w.worstNs, worst)
		lostNs += lost
		ranNs += wall
		w.windows++
	}
	if ranNs == 0 {
		return
	}
	w.ranNs, w.lostNs, w.looks = w.ranNs+ranNs, w.lostNs+lostNs, append(w.looks, [2]float64{ranNs, lostNs})
	w.held = heldBy(w.awayNs, w.lostNs, o.lookSpreadNs*math.Sqrt(float64(w.windows)))
}

// due reports that so much time of samples, each of tookNs, deserves another look.
func (w *weather) due(samplesNs, tookNs float64) bool {
	share := weatherShare
	if tookNs <= weatherFromNs {
		share = shortWeatherShare
	}
	return w.ranNs > 0 && float64(len(w.looks))*weatherNs < share*samplesNs
}

// spread is the relative standard error of what the looks saw lost, from how they differ;
// infinite where they are too few to tell.
func (w weather) spread() float64 {
	n := float64(len(w.looks))
	if n < fewestLooks || w.lostNs <= 0 {
		return inf
	}
	var squares float64
	for _, look := range w.looks {
		off := look[1] - look[0]*w.lostNs/w.ranNs
		squares += off * off
	}
	return math.Sqrt(squares*n/(n-1)) / w.lostNs
}

// fewestLooks tell how much looks differ.
const fewestLooks = 4

// heldBy asks how much of what was lost CPU time lacks. Host ticks are never taken
// off it, so that what lacks may be a part.
func heldBy(awayNs, lostNs, errorNs float64) float64 {
	errorNs = 2*errorNs + 3e3
	switch {
	case awayNs+errorNs < 0.25*lostNs:
		return 1
	case awayNs-errorNs > 0.25*lostNs:
		return 0.1
	}
	return 0.5
}

// contradicts is by how much more or less is lost than the profile says, 1 where
// chance explains it.
func (w weather) contradicts(d disturbances, rng *rand.Rand) float64 {
	if w.ranNs == 0 || d.watchedNs == 0 {
		return 1
	}
	d.now = 1
	var drawn []float64
	var one world
	for range worlds {
		d.draw(rng, &one)
		drawn = append(drawn, one.interrupted(rng, w.ranNs, false))
	}
	slices.Sort(drawn)
	least, most := stats.Quantile(drawn, 0.01), stats.Quantile(drawn, 0.99)
	expected := math.Max(stats.Quantile(drawn, 0.5), 1e3)
	switch {
	case w.lostNs > 1.2*most+1e3:
		return math.Min(100, w.lostNs/expected)
	case w.lostNs < 0.8*least-1e3 && !w.shared:
		return math.Max(0.01, w.lostNs/expected)
	}
	return 1
}
