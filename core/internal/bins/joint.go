package bins

import (
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// mostCells is the highest number of cells of several variables.
const mostCells = 1 << 16

// cell has the range of each variable.
type cell = [events.MaxVariables][2]float64

// LookInside returns the range of each variable, and the events that lie in all of them, or the error of the first bad mass. A range
// that is not given is the range of all values of the variable.
func LookInside[T events.Float](masses [][]T, index []uint32, axes []Options, sc *par.Scratch) (ranges cell, inside []uint32, err error) {
	n := len(masses[0])
	outside := make([]bool, n)
	for k, mass := range masses {
		mark := sc.Arena.Mark()
		sel, err := events.Select(events.Events[T]{Mass: mass}, index, nil, axes[k].Limits, sc)
		if sel == nil {
			return ranges, nil, errs.OfVariable(k, err)
		}
		ranges[k] = [2]float64{sel.MassLo, sel.MassHi}
		for i, pair := range sel.Pairs {
			outside[i] = outside[i] || pair == events.NoPair
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

// JointCells divides the space of several variables into cells, and returns these as bins, with the cell of each event.
// Events that are not inside have NoPair. The next variable divides each cell of the earlier ones into quantile bins, or into
// bins common to all cells, which make a grid. Cells without events are left out.
func JointCells[T events.Float](masses [][]T, index []uint32, axes []Options, inside []uint32, sc *par.Scratch) (*Bins, []uint32, error) {
	cells, members, gridCells := make([]cell, 1), [][]uint32{inside}, 1 // members: the events of each cell
	for k, mass := range masses {
		var bs *Bins
		var err error
		ax, inGrid := axes[k], make([]uint32, len(mass))
		if ax.Grid = ax.Kind != Quantile; ax.Grid {
			if bs, err = binAxis(inGrid, mass, index, ax, sc); err != nil {
				return nil, nil, errs.OfVariable(k, err)
			}
			gridCells *= bs.Count()
		}
		oldCells, oldMembers := cells, members
		cells, members = nil, nil
		for c, chosen := range oldMembers {
			numbers := make([]uint32, len(chosen)) // of the bins
			if ax.Grid {
				events.Pick(numbers, inGrid, chosen)
			} else if bs, err = binAxisOf(numbers, chosen, mass, index, ax, sc); err != nil {
				return nil, nil, errs.OfVariable(k, err)
			}
			parts := make([][]uint32, bs.Count())
			for i, b := range numbers {
				parts[b] = append(parts[b], chosen[i])
			}
			for b, part := range parts {
				if len(part) > 0 {
					ranges := oldCells[c]
					ranges[k] = [2]float64{bs.Edges[b], bs.Edges[b+1]}
					cells, members = append(cells, ranges), append(members, part)
				}
			}
		}
		if made := max(len(cells), gridCells); made > mostCells {
			return nil, nil, errs.Of(errs.ErrOption, "bins (or edges) of all variables make %d cells, and %d are possible: use fewer", made, mostCells)
		}
	}
	cellOf := slices.Repeat([]uint32{events.NoPair}, len(masses[0]))
	for c, chosen := range members {
		for _, event := range chosen {
			cellOf[event] = uint32(c)
		}
	}
	return &Bins{Bounds: cells}, cellOf, nil
}

// binAxisOf is binAxis for the chosen events. There may be fewer events than bins.
func binAxisOf[T events.Float](dst, chosen []uint32, mass []T, index []uint32, ax Options, sc *par.Scratch) (*Bins, error) {
	values, places := make([]T, len(chosen)), chosen
	events.Pick(values, mass, chosen)
	if index != nil {
		places = make([]uint32, len(chosen))
		events.Pick(places, index, chosen)
	}
	ax.Asked = min(ax.Asked, len(chosen))
	return binAxis(dst, values, places, ax, sc)
}

// binAxis returns the bins of one variable, and sets dst to the bin of each event.
func binAxis[T events.Float](dst []uint32, mass []T, index []uint32, ax Options, sc *par.Scratch) (*Bins, error) {
	defer sc.Arena.Release(sc.Arena.Mark())
	sel, err := events.Select(events.Events[T]{Mass: mass}, index, nil, ax.Limits, sc)
	if err != nil {
		return nil, err
	}
	bs, err := New(sel, &ax, sc)
	if err == nil {
		sel.FindBins(dst, 0)
	}
	return bs, err
}
