package clocktest

import "testing"

func TestCases(t *testing.T) {
	t.Setenv("CHRONOSCOPE_CASES", "")
	want := 25
	if testing.Short() {
		want = 5
	}
	if got := Cases(t, 50); got != want {
		t.Errorf("%d cases, want %d", got, want)
	}
	t.Setenv("CHRONOSCOPE_CASES", "4")
	if !testing.Short() {
		want = 200
	}
	if got := Cases(t, 50); got != want {
		t.Errorf("%d cases, want %d", got, want)
	}
}

// The project judges coverage by these counts.
func TestFewestCovered(t *testing.T) {
	for n, want := range map[int]int{100: 91, 200: 184, 2000: 1881} {
		if got := FewestCovered(n); got != want {
			t.Errorf("%d of %d, want %d", got, n, want)
		}
	}
}
