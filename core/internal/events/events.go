package events

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/lanes"
)

// MaxVariables is how many protected variables a call may have.
const MaxVariables = 3

// Float is the type of scores, masses and weights. Sums run in float64.
type Float = lanes.Float

// Events are the arrays of one call, one element an event.
type Events[T Float] struct {
	Score  []T        // finite, inside Config.ScoreRange
	Mass   []T        // any unit; mass_range and edges are in the same
	Weight []T        // any finite values; nil: all 1
	Label  LabelSlice // see LabelsOf; nil: every event is selected

	// Masses are those of several protected variables, at most MaxVariables, each of n elements, in
	// place of Mass. With Config.Missing = MissingIgnore an event may have no value of one, NaN.
	Masses [][]T
	// Category divides the events: the loss is the sum of those of the categories, each with bins of its
	// own, times their shares of the weights of the events that have the label. Any integers, in a type
	// that has only such, or bool; nil: all are of one.
	Category LabelSlice
}

// Variables returns the masses of each protected variable.
func (ev *Events[T]) Variables() [][]T {
	if ev.Masses != nil {
		return ev.Masses
	}
	return [][]T{ev.Mass}
}

// CheckLengths returns an error where arrays do not belong to the same events.
func (ev *Events[T]) CheckLengths() error {
	n := len(ev.Score)
	switch {
	case ev.Masses != nil && ev.Mass != nil:
		return errs.Of(errs.ErrLength, "mass is given twice, as Mass and as Masses")
	case ev.Masses != nil && (len(ev.Masses) == 0 || len(ev.Masses) > MaxVariables):
		return errs.Of(errs.ErrLength, "mass has %d variables, and 1 to %d are possible", len(ev.Masses), MaxVariables)
	}
	for k, mass := range ev.Masses {
		if len(mass) != n {
			return errs.Of(errs.ErrLength, "variable %d of mass has length %d, but score has length %d", k, len(mass), n)
		}
	}
	switch {
	case ev.Masses == nil && len(ev.Mass) != n:
		return errs.Of(errs.ErrLength, "mass has length %d, but score has length %d", len(ev.Mass), n)
	case ev.Category != nil && ev.Category.Length() != n:
		return errs.Of(errs.ErrLength, "category has length %d, but score has length %d", ev.Category.Length(), n)
	case ev.Weight != nil && len(ev.Weight) != n:
		return errs.Of(errs.ErrLength, "weight has length %d, but score has length %d", len(ev.Weight), n)
	case ev.Label != nil && ev.Label.Length() != n:
		return errs.Of(errs.ErrLength, "label has length %d, but score has length %d", ev.Label.Length(), n)
	case uint64(n) > math.MaxUint32:
		return errs.Of(errs.ErrLength, "score has length %d, more than the %d events that one call can take", n, uint32(math.MaxUint32))
	}
	return nil
}
