//go:build !unix

package fidelity

import (
	"context"
	"errors"

	"chronoscope/clock"
)

func prepareMemory(context.Context, *Sampler) (Task, error) {
	return Task{}, unavailable(Memory, clock.OtherSystem, errors.New("mapping memory is known on Unix systems only"), "")
}
