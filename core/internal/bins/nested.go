package bins

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// Axis says how one of several variables is divided.
type Axis struct {
	Limits  events.Limits
	Options Options
}

// JointCells divides the space of several variables into cells, which are the bins, and returns these and the cell of each
// event. All events lie in the ranges. Quantile bins are nested: those of the second variable within each of the first,
// and so on; other bins make a grid. Cells without events are left out.
func JointCells[T events.Float](ev events.Events[T], index []uint32, axes []Axis, sc *par.Scratch) (*Bins, []uint32, error) {
	if axes[0].Options.Kind == Quantile {
		return nestedCells(ev, index, axes, sc)
	}
	gr := newGrid(len(ev.Score), sc)
	for k, mass := range ev.Masses {
		bs, sel, err := ofVariable(mass, index, axes[k], sc)
		if err != nil {
			return nil, nil, errs.OfVariable(k, err)
		}
		if !divideGrid(gr, bs, sel) {
			return nil, nil, tooManyCells(gr.cells)
		}
	}
	return gr.filled(), gr.cellOf, nil
}

// ofVariable returns the bins of one variable, and the selection that has in it which events are where.
func ofVariable[T events.Float](mass []T, index []uint32, ax Axis, sc *par.Scratch) (*Bins, *events.Selection[T], error) {
	ax.Limits.Bins, ax.Limits.Ranked = ax.Options.Most(), ax.Options.Kind == Quantile
	sel, err := events.SelectMasses(events.Events[T]{Score: mass, Mass: mass}, index, ax.Limits, sc)
	if err != nil {
		return nil, nil, err
	}
	bs, err := New(sel, &ax.Options, sc)
	return bs, sel, err
}

func tooManyCells(cells int) error {
	return errs.Of(errs.ErrOption, "bins (or edges) of all variables make %d cells, and %d are possible: use fewer", cells, mostCells)
}

// nest is events in order of their cells.
type nest[T events.Float] struct {
	order  []uint32 // events, those of a cell side by side; nil: as they stand
	starts []int    // where those of each cell begin, and the end
	bounds [][events.MaxVariables][2]float64
	cellAt []uint32 // the cell of each event, in this order, after the next division
}

// nestedCells divides the events into quantile bins of the first variable, each of these into quantile bins of
// the second, and so on.
func nestedCells[T events.Float](ev events.Events[T], index []uint32, axes []Axis, sc *par.Scratch) (*Bins, []uint32, error) {
	n, kept := len(ev.Score), par.Kept[memory](sc)
	kept.cellOf, kept.cellAt = par.Grown(kept.cellOf, n), par.Grown(kept.cellAt, n)
	ne := &nest[T]{starts: []int{0, n}, bounds: make([][events.MaxVariables][2]float64, 1), cellAt: kept.cellAt}
	for k, mass := range ev.Masses {
		places := index
		if k > 0 {
			mass, places = ne.inOrder(mass, index, sc)
		}
		counts, err := ne.divide(k, mass, axes[k], places, sc)
		if err != nil {
			return nil, nil, errs.OfVariable(k, err)
		}
		if k+1 < len(ev.Masses) {
			ne.arrange(counts, kept)
		}
	}
	ne.assign(kept.cellOf, sc)
	return &Bins{Assigned: true, Cells: len(ne.bounds), Bounds: ne.bounds}, kept.cellOf, nil
}

// inOrder returns the masses and the places of the events in order of their cells.
func (ne *nest[T]) inOrder(mass []T, index []uint32, sc *par.Scratch) ([]T, []uint32) {
	memory := par.Kept[inOrder[T]](sc)
	memory.masses = par.Grown(memory.masses, len(mass))
	sc.Team.PartsFor(len(mass))
	sc.Team.Blocks(len(mass), nestedAtATime, func(lo, hi int) { events.Pick(memory.masses, mass, lo, ne.order[lo:hi]) })
	if index == nil {
		return memory.masses, ne.order
	}
	places := make([]uint32, len(index))
	for i, event := range ne.order {
		places[i] = index[event]
	}
	return memory.masses, places
}

// inOrder is memory of masses.
type inOrder[T events.Float] struct{ masses []T }

// divide divides each cell into quantile bins of a variable, of whose values these are in order of the cells: as many
// bins as the cell has events at most. It returns how many events the new cells have.
func (ne *nest[T]) divide(number int, masses []T, ax Axis, places []uint32, sc *par.Scratch) (counts []int, err error) {
	old, asked := ne.bounds, ax.Options.Asked
	ne.bounds = nil
	for c, bound := range old {
		lo, hi := ne.starts[c], ne.starts[c+1]
		ax.Options.Asked = min(asked, hi-lo)
		var of []uint32
		if places != nil {
			of = places[lo:hi]
		}
		bs, sel, err := ofVariable(masses[lo:hi], of, ax, sc)
		if err != nil {
			return nil, err
		}
		numbers, first := ne.cellAt[lo:hi], uint32(len(ne.bounds))
		sc.Team.Blocks(len(numbers), nestedAtATime, func(lo, hi int) { Find(numbers[lo:hi], bs, sel, lo) })
		for b := range bs.Count() {
			bound[number] = [2]float64{bs.Edges[b], bs.Edges[b+1]}
			ne.bounds = append(ne.bounds, bound)
		}
		if len(ne.bounds) > mostCells {
			return nil, tooManyCells(len(ne.bounds))
		}
		counts = append(counts, make([]int, bs.Count())...)
		for i, b := range numbers {
			numbers[i] = first + b
			counts[first+b]++
		}
	}
	return counts, nil
}

// arrange brings the events into the order of their new cells.
func (ne *nest[T]) arrange(counts []int, kept *memory) {
	ne.starts = []int{0}
	for _, count := range counts {
		ne.starts = append(ne.starts, ne.starts[len(ne.starts)-1]+count)
	}
	next := append([]int(nil), ne.starts...)
	kept.spare = par.Grown(kept.spare, len(ne.cellAt))
	for i, c := range ne.cellAt {
		kept.spare[next[c]] = ne.event(i)
		next[c]++
	}
	kept.order, kept.spare = kept.spare, kept.order
	ne.order = kept.order
}

// event returns which event has a place in the order.
func (ne *nest[T]) event(i int) uint32 {
	if ne.order == nil {
		return uint32(i)
	}
	return ne.order[i]
}

// assign sets the cell of each event, which are in order of the cells of all variables but the last.
func (ne *nest[T]) assign(cellOf []uint32, sc *par.Scratch) {
	sc.Team.PartsFor(len(ne.cellAt))
	sc.Team.Blocks(len(ne.cellAt), nestedAtATime, func(lo, hi int) {
		cells := ne.cellAt[lo:hi]
		for i, event := range ne.order[lo:hi] {
			cellOf[event] = cells[i]
		}
	})
}

// nestedAtATime is how many events a goroutine takes at a time.
const nestedAtATime = 1 << 14
