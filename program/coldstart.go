package program

import "math"

// coldPerByteNs is the time for which a program refills the caches if it starts late, for each byte of its memory: 0.12 ns
// were seen 12 ms after the run before it, and up to 0.19 after 100 ms, beside endless loops and on an idle machine alike
// (KVM guest, EPYC Zen 4). mostColdBytes is the most memory that the caches keep from one run to the next. promptNs is a
// time between two runs in which they lose little.
const coldPerByteNs, mostColdBytes, promptNs = 0.15, 32 << 20, 1e6

// allowForColdStarts lowers the lower bounds of the runs whose start others delayed. Alone, each run would begin as soon
// after the run before it as the soonest one. Until a run begins, the caches lose the program's data: to others that have
// its CPU, and on a virtual machine to other guests. bytes is the memory that the program uses.
func allowForColdStarts(runs []Run, bytes float64) {
	soonest := math.Inf(1)
	for i := range runs {
		if !runs[i].Rejected {
			soonest = math.Min(soonest, runs[i].gapNs)
		}
	}
	for i := range runs {
		if r := &runs[i]; !math.IsInf(r.gapNs, 1) && r.gapNs-soonest > promptNs {
			coldNs := coldPerByteNs * math.Min(bytes, mostColdBytes)
			r.slackNs, r.surelyNs = r.slackNs+coldNs, r.surelyNs-coldNs
		}
	}
}
