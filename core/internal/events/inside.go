package events

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// LookInside returns the range of each variable, and the events that lie in all of them, or the error of the first bad mass. A range
// that is not given is the range of all values of the variable.
func LookInside[T Float](masses [][]T, index []uint32, limits []Limits, sc *par.Scratch) (ranges [MaxVariables][2]float64, inside []uint32, err error) {
	n := len(masses[0])
	outside := make([]bool, n)
	for k, mass := range masses {
		mark := sc.Arena.Mark()
		sel := newSelection(Events[T]{Mass: mass}, index, nil, limits[k])
		if err := sel.check(sc); err != nil {
			return ranges, nil, errs.OfVariable(k, err)
		}
		ranges[k] = [2]float64{sel.MassLo, sel.MassHi}
		for i, pair := range sel.Pairs {
			outside[i] = outside[i] || pair == NoPair
		}
		sc.Arena.Release(mark)
	}
	inside = make([]uint32, 0, n)
	for i, out := range outside {
		if !out {
			inside = append(inside, uint32(i))
		}
	}
	if len(inside) == 0 {
		return ranges, nil, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d selected events has every variable of mass inside its range: "+
			"check mass_range (or edges) and the unit of mass", n)
	}
	return ranges, inside, nil
}
