package core

import "math"

// Float is the type of scores, masses and weights. Sums run in float64.
type Float interface{ float32 | float64 }

// Events are the arrays of one call, one element an event.
type Events[T Float] struct {
	Score  []T
	Mass   []T        // any unit; mass_range and edges are in the same
	Weight []T        // any finite values; nil: all 1
	Label  LabelSlice // see LabelsOf; nil: every event is selected
}

func (ev *Events[T]) checkLengths() error {
	n := len(ev.Score)
	switch {
	case len(ev.Mass) != n:
		return errorOf(ErrLength, "mass has length %d, but score has length %d", len(ev.Mass), n)
	case ev.Weight != nil && len(ev.Weight) != n:
		return errorOf(ErrLength, "weight has length %d, but score has length %d", len(ev.Weight), n)
	case ev.Label != nil && ev.Label.length() != n:
		return errorOf(ErrLength, "label has length %d, but score has length %d", ev.Label.length(), n)
	case uint64(n) > math.MaxUint32:
		return errorOf(ErrLength, "score has length %d, more than the %d events that one call can take", n, uint32(math.MaxUint32))
	}
	return nil
}
