package events

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Inside says which events lie in the ranges of all variables.
type Inside struct {
	Ranges [MaxVariables][2]float64
	Kept   []uint32 // the events inside
}

// LookInside returns the events inside, or the error of the first bad mass. A range that is not given is the range of all
// values of the variable.
func LookInside[T Float](masses [][]T, index []uint32, limits []Limits, sc *par.Scratch) (in Inside, err error) {
	n := len(masses[0])
	outside := make([]bool, n)
	for k, mass := range masses {
		mark := sc.Arena.Mark()
		sel := newSelection(Events[T]{Mass: mass}, index, nil, limits[k])
		if err := sel.check(sc); err != nil {
			return in, errs.OfVariable(k, err)
		}
		in.Ranges[k] = [2]float64{sel.MassLo, sel.MassHi}
		for i, pair := range sel.Pairs {
			outside[i] = outside[i] || pair == NoPair
		}
		sc.Arena.Release(mark)
	}
	in.Kept = make([]uint32, 0, n)
	for i, out := range outside {
		if !out {
			in.Kept = append(in.Kept, uint32(i))
		}
	}
	if len(in.Kept) == 0 {
		return in, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d selected events has every variable of mass inside its range: "+
			"check mass_range (or edges) and the unit of mass", n)
	}
	return in, nil
}
