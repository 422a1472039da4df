package check

// tournament returns rounds in which each of n players meets one other player, so that over all
// rounds each pair meets once: n-1 rounds of n/2 pairs, or, for odd n, n rounds with one player
// sitting out in each (the circle method of round-robin tournaments). All pairs of a round can
// play at once.
func tournament(n int) [][][2]int {
	seats := n + n%2
	var rounds [][][2]int
	for r := range seats - 1 {
		var round [][2]int
		for k := range seats / 2 {
			a, b := (r+k)%(seats-1), (r-k+seats-1)%(seats-1)
			if k == 0 {
				b = seats - 1
			}
			if max(a, b) < n {
				round = append(round, [2]int{min(a, b), max(a, b)})
			}
		}
		rounds = append(rounds, round)
	}
	return rounds
}
