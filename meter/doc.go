// Package meter times code that runs thousands of times a second, at a cost
// that nobody notices, with a clock far too coarse for a single call: the
// discrete method of Falco 2009.
//
//	source, err := meter.KernelTick() // err says what this system lacks
//	m := meter.New("encode", source)
//	start := m.Start()
//	encode(message)
//	m.Stop(start)
//	fmt.Println(m.Snapshot().Report().Mean) // with its interval
//
// Most calls see no edge of the clock and count as zero ticks; one in a thousand
// sees one and counts as a whole tick. Where calls fall evenly over the tick, the
// chance to see an edge is the call's length over the tick's, however short it
// is, and
//
//	mean = tick x edges / calls - the clock's own cost
//
// Mean and total are all that such a clock can tell. A [Source] from [Counter]
// times each call, and gives a distribution too.
//
// A [Snapshot] is what a meter has counted. Snapshots add up, over goroutines,
// processes and machines, and [Snapshot.Report] says what they show: the mean with
// its 95 % interval, and what speaks against it.
package meter
