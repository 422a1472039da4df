package kbest

// setUp is the time that setting up the calls of a sample took, and what it allocated.
type setUp struct {
	ns    float64
	bytes int64
}

// setUp measures subject.Setup(n).
func (s *Station) setUp(subject *Subject, n int) setUp {
	allocated := ask(s.Allocated, 0)
	start := s.Clock.Start()
	subject.Setup(n)
	ns := s.Clock.Ns(s.Clock.End() - start)
	return setUp{ns, ask(s.Allocated, 0) - allocated}
}

const (
	// mostSetUpBytes is the most memory for the inputs of a trial. With this limit they fit, and need no
	// garbage collection within the trial.
	mostSetUpBytes = mostGarbage / 2
	// mostSetUpTimes is how many times the plan's time may be spent on setting up.
	mostSetUpTimes = 4
)

// mostSetUp returns the number of calls that may be set up at a time, if setting up n took the memory of u.
func (u setUp) mostSetUp(n int) int {
	if u.bytes <= 0 {
		return mostCalls
	}
	return max(1, int(mostSetUpBytes/(float64(u.bytes)/float64(n))))
}
