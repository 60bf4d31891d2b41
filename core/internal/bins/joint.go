package bins

import (
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// Axis has the options of one of several variables.
type Axis struct {
	Limits  events.Limits
	Options Options
}

// mostCells is the highest number of cells of several variables.
const mostCells = 1 << 16

func tooManyCells(cells int) error {
	return errs.Of(errs.ErrOption, "bins (or edges) of all variables make %d cells, and %d are possible: use fewer", cells, mostCells)
}

// JointCells divides the space of several variables into cells, and returns these as bins, with the cell of each event.
// Events outside the ranges have NoPair. Quantile bins are nested: each bin of the first variable is divided into bins of
// the second, and so on. Other bins make a grid. Cells without events are left out.
func JointCells[T events.Float](masses [][]T, index []uint32, axes []Axis, in *events.Inside, sc *par.Scratch) (*Bins, []uint32, error) {
	cells := make([]uint32, len(masses[0]))
	if axes[0].Options.Kind == Quantile {
		bs, err := nest(cells, masses, index, axes, in, sc)
		return bs, cells, err
	}
	bs, err := makeGrid(cells, masses, index, axes, sc)
	return bs, cells, err
}

// binAxis returns the bins of one variable, and the selection that has the bin of each event.
func binAxis[T events.Float](mass []T, index []uint32, ax Axis, sc *par.Scratch) (*Bins, *events.Selection[T], error) {
	sel, err := events.Select(events.Events[T]{Mass: mass}, index, nil, ax.Limits, sc)
	if err != nil {
		return nil, nil, err
	}
	bs, err := New(sel, &ax.Options, sc)
	return bs, sel, err
}

// cell has the ranges of a cell.
type cell = [events.MaxVariables][2]float64

// makeGrid sets cells to the cell of each event in the grid of the bins of all variables.
func makeGrid[T events.Float](cells []uint32, masses [][]T, index []uint32, axes []Axis, sc *par.Scratch) (*Bins, error) {
	bounds := make([]cell, 1)
	numbers := make([]uint32, len(cells))
	for k, mass := range masses {
		bs, sel, err := binAxis(mass, index, axes[k], sc)
		if err != nil {
			return nil, errs.OfVariable(k, err)
		}
		old, count := bounds, bs.Count()
		if bounds = make([]cell, 0, min(len(old)*count, mostCells+1)); len(old)*count > mostCells {
			return nil, tooManyCells(len(old) * count)
		}
		for b := range count { // the number of a cell is b len(old) + its old number
			for _, bound := range old {
				bound[k] = [2]float64{bs.Edges[b], bs.Edges[b+1]}
				bounds = append(bounds, bound)
			}
		}
		sel.FindBins(numbers, 0)
		for i, b := range numbers {
			if cells[i] != events.NoPair && b != events.NoPair {
				cells[i] += uint32(len(old)) * b
			} else {
				cells[i] = events.NoPair
			}
		}
	}
	return leaveOutEmpty(cells, bounds), nil
}

// leaveOutEmpty renumbers the cells that have events.
func leaveOutEmpty(cells []uint32, bounds []cell) *Bins {
	number := make([]uint32, len(bounds))
	for _, c := range cells {
		if c != events.NoPair {
			number[c] = 1
		}
	}
	var filled []cell
	for c, used := range number {
		number[c] = uint32(len(filled))
		if used == 1 {
			filled = append(filled, bounds[c])
		}
	}
	for i, c := range cells {
		if c != events.NoPair {
			cells[i] = number[c]
		}
	}
	return &Bins{Bounds: filled}
}

// nest sets cells to the cell of each event in nested bins.
func nest[T events.Float](cells []uint32, masses [][]T, index []uint32, axes []Axis, in *events.Inside, sc *par.Scratch) (*Bins, error) {
	order := slices.Clone(in.Kept) // the events in order of their cells
	for i := range cells {
		cells[i] = events.NoPair
		if in.Kept == nil {
			order = append(order, uint32(i))
		}
	}
	places, spare := make([]uint32, len(order)), make([]uint32, len(order))
	values, numbers := make([]T, len(order)), make([]uint32, len(order))
	bounds, starts := make([]cell, 1), []int{0, len(order)}
	for k, mass := range masses {
		events.Pick(values, mass, order)
		copy(places, order)
		if index != nil {
			events.Pick(places, index, order)
		}
		old, oldStarts := bounds, starts
		bounds, starts = nil, []int{0}
		for c, bound := range old {
			lo, hi := oldStarts[c], oldStarts[c+1]
			ax := axes[k]
			ax.Options.Asked = min(ax.Options.Asked, hi-lo)
			bs, sel, err := binAxis(values[lo:hi], places[lo:hi], ax, sc)
			if err != nil {
				return nil, errs.OfVariable(k, err)
			}
			sel.FindBins(numbers[lo:hi], 0)
			first := len(bounds)
			next := make([]int, bs.Count()+1) // where the next event of each bin goes
			for _, b := range numbers[lo:hi] {
				next[b+1]++
			}
			next[0] = lo
			for b := range bs.Count() {
				next[b+1] += next[b]
				bound[k] = [2]float64{bs.Edges[b], bs.Edges[b+1]}
				bounds, starts = append(bounds, bound), append(starts, next[b+1])
			}
			for i, b := range numbers[lo:hi] {
				event := order[lo+i]
				cells[event] = uint32(first) + b
				spare[next[b]] = event
				next[b]++
			}
		}
		if len(bounds) > mostCells {
			return nil, tooManyCells(len(bounds))
		}
		order, spare = spare, order
	}
	return &Bins{Bounds: bounds}, nil
}
