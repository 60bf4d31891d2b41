package events

import (
	"sync/atomic"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Derivatives are the arrays for the derivatives of the loss by each score: the gradient, and the bound on the curvature.
// Either is nil if it is not wanted.
type Derivatives[T Float] struct{ Grad, Hess []T }

func (d Derivatives[T]) both() [2][]T { return [...][]T{d.Grad, d.Hess} }

// derivativeNames are the names in errors.
var derivativeNames = [...]string{"grad", "hess"}

// CheckLengths returns an error if an array does not have n elements.
func (d Derivatives[T]) CheckLengths(n int) error {
	for k, array := range d.both() {
		if array != nil && len(array) != n {
			return wrongLength(derivativeNames[k], len(array), n)
		}
	}
	return nil
}

// Check returns an error for the first derivative that is beyond its type, for example if a float32 cannot hold it.
func (d Derivatives[T]) Check(sc *par.Scratch) error {
	for k, array := range d.both() {
		var isBad atomic.Bool
		sc.Blocks(len(array), blockSize, func(lo, hi int) {
			if FirstNotFinite(array[lo:hi]) >= 0 {
				isBad.Store(true)
			}
		})
		if isBad.Load() {
			return errs.At(errs.ErrOverflow, derivativeNames[k], FirstNotFinite(array), " overflows its type: scores are too close together, "+
				"or slope_penalty or weights relative to their sum in a bin are too large")
		}
	}
	return nil
}

// Clear sets all derivatives to 0.
func (d Derivatives[T]) Clear(sc *par.Scratch) {
	for _, array := range d.both() {
		sc.Blocks(len(array), blockSize, func(lo, hi int) { clear(array[lo:hi]) })
	}
}

// ForEvents returns memory for the wanted derivatives of n events. It is not cleared.
func (d Derivatives[T]) ForEvents(n int, arena *par.Arena) (own Derivatives[T]) {
	if d.Grad != nil {
		own.Grad = par.Unset[T](arena, n)
	}
	if d.Hess != nil {
		own.Hess = par.Unset[T](arena, n)
	}
	return own
}

// Scatter sets the derivatives of the input to those of the subset times its factor.
func (su *Subset[T]) Scatter(input, own Derivatives[T], sc *par.Scratch) {
	to := input.both()
	for k, all := range own.both() {
		sc.Blocks(len(all), blockSize, func(lo, hi int) {
			block := all[lo:hi]
			for j := 0; j < len(block) && su.Factor != 1; j++ {
				block[j] = T(float64(block[j]) * su.Factor)
			}
			for j, i := range su.Index[lo:hi] {
				to[k][i] = block[j]
			}
		})
	}
}
