package core

import "github.com/libmode/libmode/core/internal/par"

// mostCells is how many cells several variables may have: their numbers take the place of those of the cells of mass.
const mostCells = 1 << massCellBits

// grid is the cells that the bins of several variables make.
type grid struct {
	cells  int
	cellOf []uint32 // of each event
	axes   []gridAxis
}

// gridAxis is the bins of one variable; the cells of neighbouring bins are a stride apart.
type gridAxis struct {
	bins          *bins
	count, stride int
}

func newGrid(n int, sc *scratch) *grid {
	sc.cellOf = par.Grown(sc.cellOf, n)
	clear(sc.cellOf)
	return &grid{cells: 1, cellOf: sc.cellOf}
}

// divideGrid divides all cells by the bins of one more variable, and reports whether there is room.
func divideGrid[T Float](gr *grid, bs *bins, sel *selection[T]) bool {
	stride := uint32(gr.cells)
	gr.axes = append(gr.axes, gridAxis{bs, bs.count(), gr.cells})
	if gr.cells *= bs.count(); gr.cells > mostCells {
		return false
	}
	var numbers [checkBlock]uint32
	for lo := 0; lo < len(gr.cellOf); lo += checkBlock {
		cells := gr.cellOf[lo:min(lo+checkBlock, len(gr.cellOf))]
		binsOfEvents(numbers[:len(cells)], bs, sel, lo)
		for i, b := range numbers[:len(cells)] {
			cells[i] += stride * b
		}
	}
	return true
}

// filled returns the cells that have events as bins, and gives events their numbers.
func (gr *grid) filled() *bins {
	number := make([]uint32, gr.cells)
	for _, c := range gr.cellOf {
		number[c] = 1
	}
	bs := &bins{assigned: true}
	for c, used := range number {
		if used == 0 {
			continue
		}
		number[c] = uint32(len(bs.bounds))
		var bounds [MaxVariables][2]float64
		for k, ax := range gr.axes {
			b := c / ax.stride % ax.count
			bounds[k] = [2]float64{ax.bins.edges[b], ax.bins.edges[b+1]}
		}
		bs.bounds = append(bs.bounds, bounds)
	}
	for i, c := range gr.cellOf {
		gr.cellOf[i] = number[c]
	}
	bs.cells = len(bs.bounds)
	return bs
}
