package bins

import (
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
	n := len(masses[0])
	ne := nest{cellOf: make([]uint32, n), order: inside}
	for i := range ne.cellOf {
		ne.cellOf[i] = events.NoPair
	}
	ne.spare, ne.cells, ne.starts = make([]uint32, len(ne.order)), make([]cell, 1), []int{0, len(ne.order)}
	values, numbers, gridCells := make([]T, len(ne.order)), make([]uint32, len(ne.order)), 1
	for k, mass := range masses {
		events.Pick(values, mass, ne.order)
		places := ne.order // in the input
		if index != nil {
			places = make([]uint32, len(ne.order))
			events.Pick(places, index, ne.order)
		}
		ax, bs, err := axes[k], (*Bins)(nil), error(nil)
		isGrid := ax.Kind != Quantile
		if isGrid {
			inGrid := make([]uint32, n)
			if bs, err = binAxis(inGrid, mass, index, ax, sc); err != nil {
				return nil, nil, errs.OfVariable(k, err)
			}
			gridCells *= bs.Count()
			events.Pick(numbers, inGrid, ne.order)
		}
		old, starts := ne.cells, ne.starts
		ne.cells, ne.starts = nil, []int{0}
		for c, ranges := range old {
			lo, hi := starts[c], starts[c+1]
			if !isGrid {
				ax.Asked = min(axes[k].Asked, hi-lo)
				if bs, err = binAxis(numbers[lo:hi], values[lo:hi], places[lo:hi], ax, sc); err != nil {
					return nil, nil, errs.OfVariable(k, err)
				}
			}
			ne.divide(k, ranges, bs, numbers[lo:hi], lo)
		}
		if made := max(len(ne.cells), gridCells); made > mostCells {
			return nil, nil, errs.Of(errs.ErrOption, "bins (or edges) of all variables make %d cells, and %d are possible: use fewer", made, mostCells)
		}
		ne.order, ne.spare = ne.spare, ne.order
	}
	return &Bins{Bounds: ne.cells}, ne.cellOf, nil
}

// nest has the cells of some variables.
type nest struct {
	cells        []cell
	starts       []int    // of the events of each cell, and the end
	order, spare []uint32 // the events in order of the cells that are divided, and of the new ones
	cellOf       []uint32 // of each event
}

// divide divides a cell, whose events are those from lo on, by the bins of variable k. The bins of the events have these
// numbers.
func (ne *nest) divide(k int, ranges cell, bs *Bins, numbers []uint32, lo int) {
	next := make([]int, bs.Count()+1) // where the next event of each bin goes
	for _, b := range numbers {
		next[b+1]++
	}
	cellOfBin := make([]uint32, bs.Count())
	next[0] = lo
	for b := range bs.Count() {
		cellOfBin[b] = uint32(len(ne.cells))
		if next[b+1] > 0 {
			ranges[k] = [2]float64{bs.Edges[b], bs.Edges[b+1]}
			ne.cells, ne.starts = append(ne.cells, ranges), append(ne.starts, next[b]+next[b+1])
		}
		next[b+1] += next[b]
	}
	for i, b := range numbers {
		event := ne.order[lo+i]
		ne.cellOf[event], ne.spare[next[b]] = cellOfBin[b], event
		next[b]++
	}
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
