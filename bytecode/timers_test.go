package bytecode

import (
	"slices"
	"testing"

	"chronoscope/internal/classfile"
)

// For every sequence and all operands, there are nops right before the first reading and right before
// the last, so that both find the branch predictor as they do around the empty sequence. There are no
// nops within a reading or between two readings.
func TestReadingsFollowTheSameJumps(t *testing.T) {
	timers := timersOf([]Method{Discrete, Counter, TSC})
	var starts, ends classfile.Code
	for i := range timers {
		timers[i].read(&starts)
		starts.Do(classfile.Lstore, localsOf(i).start)
		last := len(timers) - 1 - i
		timers[last].read(&ends)
		ends.Do(classfile.Lstore, localsOf(last).end)
	}
	settled := slices.Repeat(classfile.Code{{Op: classfile.Nop}}, settlingNops)
	for _, s := range []*sequence{
		{name: emptyName},
		newSequence(mustLookup("ldiv"), Homogeneous, 20),
		newSequence(mustLookup("iconst_0"), Homogeneous, 20),
		newSequence(mustLookup("i2l"), Pair, 20),
	} {
		var feed, body, drain, trial classfile.Code
		s.pushAll(&feed)
		s.body(&body)
		s.popAll(&drain)
		appendTrial(&trial, s, timers)
		want := slices.Concat(feed, settled, starts, body, settled, ends, drain)
		if !slices.Equal(trial, want) {
			t.Errorf("%s: %d instructions, want %d: %v", s.name, len(trial), len(want), trial)
		}
	}
}
