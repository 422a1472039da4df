//go:build amd64 || arm64

package clock

// AdditionsInRound are the additions of a round of [Additions]; 0 where there are none.
const AdditionsInRound = 120

//go:noescape
func additions(rounds int)
