package events

import (
	"slices"
	"sync/atomic"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// derivatives are where those of the loss by each score go: the gradient, and the curvature bound of curvature.go.
// Each has an element for each event; nil: it is not wanted.
type Derivatives[T Float] [2][]T

func (d Derivatives[T]) Grad() []T { return d[0] }
func (d Derivatives[T]) Hess() []T { return d[1] }

// CheckLengths returns an error for one that is not of n events.
func (d Derivatives[T]) CheckLengths(n int) error {
	for k, name := range [...]string{"grad", "hess"} {
		if d[k] != nil && len(d[k]) != n {
			return errs.Of(errs.ErrLength, "%s has length %d, but score has length %d", name, len(d[k]), n)
		}
	}
	return nil
}

// checkedAtATime is how many derivatives a goroutine checks at a time.
const checkedAtATime = 1 << 14

// Check returns an error for the first that is beyond its type, as where a loss that a double holds has float32 events.
func (d Derivatives[T]) Check(team *par.Team) error {
	for k, name := range [...]string{"grad", "hess"} {
		of := d[k]
		var beyond atomic.Bool
		team.Blocks(len(of), checkedAtATime, func(lo, hi int) {
			for _, element := range of[lo:hi] {
				if element-element != 0 {
					beyond.Store(true)
					return
				}
			}
		})
		if !beyond.Load() {
			continue
		}
		i := slices.IndexFunc(of, func(element T) bool { return element-element != 0 })
		return errs.Of(errs.ErrOverflow, "%s[%d] is beyond what its type can hold: scores differ by too little, "+
			"or slope_penalty or weights relative to their sum in a bin are too large", name, i)
	}
	return nil
}

// clearedAtATime is how many derivatives a goroutine sets to 0 at a time.
const clearedAtATime = 1 << 16

func (d Derivatives[T]) Clear(team *par.Team) {
	for _, of := range d {
		team.Blocks(len(of), clearedAtATime, func(lo, hi int) { clear(of[lo:hi]) })
	}
}

// Cut returns those of the events lo..hi-1.
func (d Derivatives[T]) Cut(lo, hi int) Derivatives[T] {
	for k, of := range d {
		if of != nil {
			d[k] = of[lo:hi]
		}
	}
	return d
}

// Scale multiplies all with a factor.
func (d Derivatives[T]) Scale(factor float64) {
	for _, of := range d {
		for i, element := range of {
			of[i] = T(float64(element) * factor)
		}
	}
}

// ForEvents returns new ones of n events, of those that are wanted.
func (d Derivatives[T]) ForEvents(n int) (own Derivatives[T]) {
	for k, of := range d {
		if of != nil {
			own[k] = make([]T, n)
		}
	}
	return own
}
