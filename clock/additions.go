package clock

// Additions runs rounds times [AdditionsInRound] additions that don't wait for one another.
// They take as long as the core has room for: a busy hyperthread on the same core slows
// them, while the chain of [CoreRate] keeps its time. [AdditionsPerCycle] says how many a
// core makes that is not shared. Nothing happens for rounds <= 0, nor where there is none
// for this architecture.
func Additions(rounds int) {
	if rounds > 0 {
		additions(rounds)
	}
}
