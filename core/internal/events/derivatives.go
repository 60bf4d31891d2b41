package events

import (
	"sync/atomic"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Derivatives are the arrays for the derivatives of the loss by each score: the gradient, and the bound on the curvature.
// Either is nil if it is not wanted.
type Derivatives[T Float] [2][]T

// The places of both.
const (
	Grad = iota
	Hess
)

// derivativeNames are the names in errors.
var derivativeNames = [...]string{"grad", "hess"}

// CheckLengths returns an error if an array does not have n elements.
func (d Derivatives[T]) CheckLengths(n int) error {
	for k, array := range d {
		if array != nil && len(array) != n {
			return errs.Of(errs.ErrLength, "%s has length %d, but score has length %d", derivativeNames[k], len(array), n)
		}
	}
	return nil
}

// derivativesAtATime is the number of derivatives that a goroutine handles at a time.
const derivativesAtATime = 1 << 14

// Check returns an error for the first derivative that is beyond its type, for example if a float32 cannot hold it.
func (d Derivatives[T]) Check(team *par.Team) error {
	for k, array := range d {
		var isBad atomic.Bool
		team.Blocks(len(array), derivativesAtATime, func(lo, hi int) {
			if FirstNotFinite(array[lo:hi]) >= 0 {
				isBad.Store(true)
			}
		})
		if isBad.Load() {
			return Overflow(derivativeNames[k], FirstNotFinite(array))
		}
	}
	return nil
}

// Overflow returns the error of a derivative that is beyond its type.
func Overflow(name string, i int) error {
	return errs.At(errs.ErrOverflow, name, i, " overflows its type: scores are too close together, "+
		"or slope_penalty or weights relative to their sum in a bin are too large")
}

// Clear sets all derivatives to 0.
func (d Derivatives[T]) Clear(team *par.Team) {
	for _, array := range d {
		team.Blocks(len(array), derivativesAtATime, func(lo, hi int) { clear(array[lo:hi]) })
	}
}

// Cut returns the derivatives of the events lo..hi-1.
func (d Derivatives[T]) Cut(lo, hi int) Derivatives[T] {
	return Derivatives[T]{cut(d[0], lo, hi), cut(d[1], lo, hi)}
}

// ForEvents returns memory for the wanted derivatives of n events. It is not cleared.
func (d Derivatives[T]) ForEvents(n int, arena *par.Arena) (own Derivatives[T]) {
	for k, array := range d {
		if array != nil {
			own[k] = par.Unset[T](arena, n)
		}
	}
	return own
}
