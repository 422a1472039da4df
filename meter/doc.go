// Package meter times code that runs thousands of times a second, at a very low cost, with a clock
// whose ticks are far longer than a single call: the discrete method of Falco 2009.
//
//	source, err := meter.KernelTick() // err says what this system lacks
//	m := meter.New("encode", source)
//	start := m.Start()
//	encode(message)
//	m.Stop(start)
//	fmt.Println(m.Snapshot().Report().Mean) // with its interval
//
// Terms: an edge is the moment at which the clock moves, a tick the time between two edges. A call
// sees an edge if the clock moves between its Start and its Stop.
//
// Most calls see no edge and count as zero ticks; one in a thousand sees an edge and counts as a whole
// tick. If calls fall evenly over the tick, the probability that a call sees an edge is the call's length
// divided by the tick's, however short the call is, and
//
//	mean = tick x edges / calls - the clock's own cost
//
// Mean and total are all that such a clock can tell. [WithTails] adds percentiles, for which a fine clock
// times the measured calls one by one. A [Source] from [Counter] times each call, and gives a distribution too.
//
// A [Snapshot] is what a meter has counted. Snapshots add up, over goroutines,
// processes and machines, and [Snapshot.Report] says what they show: the mean with
// its 95 % interval, and the reasons not to trust it.
package meter
