package process

// processLooks holds the looks of one process. What one thread sees may change what the others do.
type processLooks struct {
	stops   int
	firstNs int64 // the process's CPU time at the first look
	// laterNs is the CPU time used between the first look and each later one. A look is left out if this time
	// is less than a tenth longer than at the last look that was kept: so there are a few hundred at most.
	laterNs []int64
	toldNs  int64 // the work that was counted before
	// uncorrected says that a look after the first one showed how long the process had waited for a CPU.
	uncorrected bool
}

// looked adds a look at a CPU time of the process. t is nil before the first one.
func (t *processLooks) looked(cpuNs int64) *processLooks {
	if t == nil {
		return &processLooks{firstNs: cpuNs}
	}
	since := cpuNs - t.firstNs
	if n := len(t.laterNs); since > 0 && (n == 0 || since > t.laterNs[n-1]+t.laterNs[n-1]/10) {
		t.laterNs = append(t.laterNs, since)
	}
	return t
}

// tooMany reports whether the process, which has used the CPU time, has stopped too often for looks.
func (t *processLooks) tooMany(cpuNs int64) bool { return t.stops > manyLooks+int(cpuNs/perLookNs) }

// work returns the work that may depend on the looks, without what earlier calls returned. For each look, that
// is the smaller of two CPU times: from the first look to this one, and after this one; the largest of these
// counts. A process that saw how long it waited may have left undone all work after a look: for such a process
// only the time before the look counts.
func (t *processLooks) work(cpuNs int64) (more int64) {
	most := t.toldNs
	for _, since := range t.laterNs {
		after := cpuNs - t.firstNs - since
		if t.uncorrected {
			after = since
		}
		most = max(most, min(since, after))
	}
	more, t.toldNs = most-t.toldNs, most
	return more
}
