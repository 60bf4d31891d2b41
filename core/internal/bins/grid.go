package bins

import (
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// mostCells is how many cells several variables may have: their numbers take the place of those of the cells of mass.
const mostCells = 1 << events.MassCellBits

// grid is the cells that the bins of several variables make.
type grid struct {
	cells  int
	cellOf []uint32 // of each event
	axes   []axis
}

// axis is the bins of one variable; the cells of neighbouring bins are a stride apart.
type axis struct {
	bins          *Bins
	count, stride int
}

func newGrid(n int, sc *par.Scratch) *grid {
	kept := par.Kept[memory](sc)
	kept.cellOf = par.Grown(kept.cellOf, n)
	clear(kept.cellOf)
	return &grid{cells: 1, cellOf: kept.cellOf}
}

// divideGrid divides all cells by the bins of one more variable, and reports whether there is room.
func divideGrid[T events.Float](gr *grid, bs *Bins, sel *events.Selection[T]) bool {
	stride := uint32(gr.cells)
	gr.axes = append(gr.axes, axis{bs, bs.Count(), gr.cells})
	if gr.cells *= bs.Count(); gr.cells > mostCells {
		return false
	}
	var numbers [events.Block]uint32
	for lo := 0; lo < len(gr.cellOf); lo += events.Block {
		cells := gr.cellOf[lo:min(lo+events.Block, len(gr.cellOf))]
		Find(numbers[:len(cells)], bs, sel, lo)
		for i, b := range numbers[:len(cells)] {
			cells[i] += stride * b
		}
	}
	return true
}

// filled returns the cells that have events as bins, and gives events their numbers.
func (gr *grid) filled() *Bins {
	number := make([]uint32, gr.cells)
	for _, c := range gr.cellOf {
		number[c] = 1
	}
	bs := &Bins{Assigned: true}
	for c, used := range number {
		if used == 0 {
			continue
		}
		number[c] = uint32(len(bs.Bounds))
		var bounds [events.MaxVariables][2]float64
		for k, ax := range gr.axes {
			b := c / ax.stride % ax.count
			bounds[k] = [2]float64{ax.bins.Edges[b], ax.bins.Edges[b+1]}
		}
		bs.Bounds = append(bs.Bounds, bounds)
	}
	for i, c := range gr.cellOf {
		gr.cellOf[i] = number[c]
	}
	bs.Cells = len(bs.Bounds)
	return bs
}
