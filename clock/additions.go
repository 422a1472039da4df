package clock

// Additions executes rounds times [AdditionsInRound] additions that do not depend on one another.
// Their time depends on how many the core can execute at once: a busy hyperthread on the same
// core slows them, while it does not slow the dependent chain of [CoreRate]. [AdditionsPerCycle]
// is the rate of a core that is not shared. Additions does nothing for rounds <= 0, and nothing
// on an architecture for which there is no assembly.
func Additions(rounds int) {
	if rounds > 0 {
		additions(rounds)
	}
}
