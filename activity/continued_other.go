//go:build !unix

package activity

// continuations are unknown where there is no job control.
type continuations struct{}

func watchContinuations() continuations { return continuations{} }

func (continuations) count() int { return 0 }
