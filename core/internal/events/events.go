// Package events checks the events of a call, selects the events that take part, and divides them by label and category.
package events

import (
	"fmt"
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/lanes"
)

// MaxVariables is the highest number of protected variables of a call.
const MaxVariables = 3

// Float is the type of scores, masses and weights.
type Float = lanes.Float

// Events are the arrays of one call. Each array has one element an event.
type Events[T Float] struct {
	Score []T        // finite and inside Config.ScoreRange
	Label LabelSlice // see LabelsOf; nil: every event is selected
	Mass  []T        // in any unit, which is also that of mass_range and edges
	// Masses replaces Mass if there are several protected variables, at most MaxVariables. With
	// Config.IgnoreMissing the value of a variable may be NaN.
	Masses [][]T
	Weight []T // finite, of either sign; nil: all weights are 1
	// Category divides the events. Each category has bins of its own, and its loss counts in proportion to its share of
	// the weights of the selected events. Categories are integers, in a type that has only integers, or bool. If Category
	// is nil, all events are in one category.
	Category LabelSlice
}

// Variables returns the masses of each protected variable.
func (ev *Events[T]) Variables() [][]T {
	if ev.Masses != nil {
		return ev.Masses
	}
	return [][]T{ev.Mass}
}

// CheckLengths returns an error if the arrays have different lengths.
func (ev *Events[T]) CheckLengths() error {
	n := len(ev.Score)
	switch {
	case ev.Masses != nil && ev.Mass != nil:
		return errs.Of(errs.ErrLength, "mass is given twice, as Mass and as Masses")
	case ev.Masses != nil && (len(ev.Masses) == 0 || len(ev.Masses) > MaxVariables):
		return errs.Of(errs.ErrLength, "mass has %d variables, and 1 to %d are possible", len(ev.Masses), MaxVariables)
	case ev.Masses == nil && len(ev.Mass) != n:
		return wrongLength("mass", len(ev.Mass), n)
	}
	for k, mass := range ev.Masses {
		if len(mass) != n {
			return wrongLength(fmt.Sprintf("variable %d of mass", k), len(mass), n)
		}
	}
	switch {
	case ev.Category != nil && ev.Category.Length() != n:
		return wrongLength("category", ev.Category.Length(), n)
	case ev.Weight != nil && len(ev.Weight) != n:
		return wrongLength("weight", len(ev.Weight), n)
	case ev.Label != nil && ev.Label.Length() != n:
		return wrongLength("label", ev.Label.Length(), n)
	case uint64(n) > math.MaxUint32:
		return errs.Of(errs.ErrLength, "score has length %d, more than the %d events that one call can take", n, uint32(math.MaxUint32))
	}
	return nil
}

func wrongLength(name string, length, n int) error {
	return errs.Of(errs.ErrLength, "%s has length %d, but score has length %d", name, length, n)
}

// IsFinite reports whether x is neither NaN nor infinite.
func IsFinite(x float64) bool { return x-x == 0 }

// FirstNotFinite returns the index of the first value that is NaN or infinite, or -1.
func FirstNotFinite[T Float](values []T) int {
	i := 0
	for ; i+4 <= len(values); i += 4 { // four at a time, which takes half the time
		v := values[i : i+4 : i+4]
		if (v[0]-v[0])+(v[1]-v[1])+(v[2]-v[2])+(v[3]-v[3]) != 0 {
			break
		}
	}
	for ; i < len(values); i++ {
		if values[i]-values[i] != 0 {
			return i
		}
	}
	return -1
}

// NotFinite returns the error of a NaN or an infinite value of an array.
func NotFinite(name string, i int, value float64) error {
	err := errs.At(errs.ErrNotFinite, name, i, " = %v: every %s of a selected event must be finite; %s", value, name, map[string]string{
		"score":  "look for NaN in the inputs of the classifier, or lower the learning rate",
		"weight": "leave such events out",
	}[name])
	if name == "mass" {
		return errs.Advised(err, errs.LeaveOut)
	}
	return err
}
