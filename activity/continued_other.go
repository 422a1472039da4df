//go:build !unix

package activity

// continuations holds nothing: this system has no job control.
type continuations struct{}

func watchContinuations() continuations { return continuations{} }

func (continuations) count() int { return 0 }
