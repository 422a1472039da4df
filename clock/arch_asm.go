//go:build amd64 || arm64

package clock

// AdditionsInRound are the additions of a round of [Additions]; 0 where there are none.
const AdditionsInRound = 120

//go:noescape
func additions(rounds int)

// dependentChain runs so many rounds, at least one.
func dependentChain(rounds int)

//go:noescape
func spin(work int)

//go:noescape
func counterGaps(last, until, threshold, long int64, gaps []Gap) (n int, now int64)
