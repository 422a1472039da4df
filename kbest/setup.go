package kbest

// setUp is what it took to set up the calls of a sample.
type setUp struct {
	ns    float64
	bytes int64
}

// setUp sets up the calls of a sample.
func (s *Station) setUp(subject *Subject, n int) setUp {
	allocated := s.allocated()
	start := s.Clock.Start()
	subject.Setup(n)
	ns := s.Clock.Ns(s.Clock.End() - start)
	return setUp{ns, s.allocated() - allocated}
}

const (
	// mostSetUpBytes are what the inputs of a trial may take, so that they fit into memory, and the
	// collector is not called for within the trial.
	mostSetUpBytes = mostGarbage / 2
	// mostSetUpTimes the time of a plan may go into setting up.
	mostSetUpTimes = 4
)

// mostSetUp is how many calls may be set up at a time, by what it took to set up n.
func (u setUp) mostSetUp(n int) int {
	if u.bytes <= 0 {
		return mostCalls
	}
	return max(1, int(mostSetUpBytes/(float64(u.bytes)/float64(n))))
}
